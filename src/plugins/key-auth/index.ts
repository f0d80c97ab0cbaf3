import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateByKey, maxBodyBytes } from './handler.ts';
import type { KeyAuthConfig } from './schema.ts';

export default definePlugin<KeyAuthConfig>({
  name: 'key-auth',
  version: '1.0.0',
  priority: 1250,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: ({ key_names, key_in_body }) => ({
    secrets: { queryArguments: key_names, headers: key_names },
    ...(key_in_body ? { requestBody: { maxBytes: maxBodyBytes } } : {}),
  }),
  setup: authenticateByKey,
});
