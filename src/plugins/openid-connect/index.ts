import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateByOpenId, needsOf, zonesOf } from './handler.ts';

export default definePlugin({
  name: 'openid-connect',
  version: '1.0.0',
  priority: 1050,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  needs: needsOf,
  zones: zonesOf,
  setup: authenticateByOpenId,
});
