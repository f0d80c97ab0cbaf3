import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { openIdConnectNeeds, openIdConnectPhases } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'openid-connect',
  version: '1.0.0',
  priority: 1050,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  needs: openIdConnectNeeds,
  zones,
  setup: openIdConnectPhases,
});
