import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authorizeClients, needsOf } from './handler.ts';

export default definePlugin({
  name: 'oauth2',
  version: '1.0.0',
  priority: 1400,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: needsOf,
  setup: authorizeClients,
});
