import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { introspectTokens } from './handler.ts';

export default definePlugin({
  name: 'oauth2-introspection',
  version: '1.0.0',
  priority: 1700,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  setup: introspectTokens,
});
