import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateByPassword } from './handler.ts';

export default definePlugin({
  name: 'basic-auth',
  version: '1.0.0',
  priority: 1100,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: { secrets: { headers: ['proxy-authorization'] } },
  setup: authenticateByPassword,
});
