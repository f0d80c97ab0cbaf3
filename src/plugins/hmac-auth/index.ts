import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authenticateBySignature, maxBodyBytes } from './handler.ts';
import type { HmacAuthConfig } from './schema.ts';

export default definePlugin<HmacAuthConfig>({
  name: 'hmac-auth',
  version: '1.0.0',
  priority: 1030,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: ({ validate_request_body: body }) => ({
    secrets: { headers: ['proxy-authorization'] },
    ...(body ? { requestBody: { maxBytes: maxBodyBytes } } : {}),
  }),
  setup: authenticateBySignature,
});
