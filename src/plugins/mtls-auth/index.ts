import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateByCertificate } from './handler.ts';

export default definePlugin({
  name: 'mtls-auth',
  version: '1.0.0',
  priority: 1600,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: { clientCertificate: true },
  setup: authenticateByCertificate,
});
