import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { manageCertificates } from './handler.ts';

export default definePlugin({
  name: 'acme',
  version: '1.0.0',
  priority: 1705,
  protocols: httpProtocols,
  scopes: [],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  adminRoutes: () => import('./admin.ts'),
  background: () => import('./background.ts'),
  setup: manageCertificates,
});
