import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authorizeWithOAuth2, oauth2Needs } from './handler.ts';

export default definePlugin({
  name: 'oauth2',
  version: '1.0.0',
  priority: 1400,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: oauth2Needs,
  setup: authorizeWithOAuth2,
});
