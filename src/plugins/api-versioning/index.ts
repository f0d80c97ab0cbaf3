import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { selectVersion } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'api-versioning',
  version: '1.0.0',
  priority: 820,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  adminRoutes: () => import('./admin.ts'),
  zones,
  setup: selectVersion,
});
