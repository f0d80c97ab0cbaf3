import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateByOpenId, zonesOf } from './handler.ts';

export default definePlugin({
  name: 'openid-connect',
  version: '1.0.0',
  priority: 1050,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  needs: { secrets: { headers: ['cookie', 'set-cookie'], queryArguments: ['code', 'state', 'id_token_hint'] } },
  zones: zonesOf,
  setup: authenticateByOpenId,
});
