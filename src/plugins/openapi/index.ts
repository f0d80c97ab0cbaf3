import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { validateApi } from './handler.ts';
import type { OpenApiConfig } from './schema.ts';

export default definePlugin<OpenApiConfig>({
  name: 'openapi',
  version: '1.0.0',
  priority: 850,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: ({ mode, response_mode, max_body_size: maxBytes }) => ({
    ...(mode === 'off' ? {} : { requestBody: { maxBytes } }),
    ...(response_mode === 'enforce' ? { responseBody: { mode: 'buffer', maxBytes } } : {}),
  }),
  setup: validateApi,
});
