import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateAny } from './handler.ts';

export default definePlugin({
  name: 'auth-any',
  version: '1.0.0',
  // Before all plugins that authenticate.
  priority: 1950,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  setup: authenticateAny,
});
