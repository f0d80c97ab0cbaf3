import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authorizeClients } from './handler.ts';
import { maxBodyBytes } from './parameters.ts';

export default definePlugin({
  name: 'oauth2',
  version: '1.0.0',
  priority: 1400,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: {
    requestBody: { maxBytes: maxBodyBytes },
    secrets: { queryArguments: ['code', 'code_verifier', 'provision_key'] },
  },
  setup: authorizeClients,
});
