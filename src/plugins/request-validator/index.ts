import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { validateRequests } from './handler.ts';
import type { RequestValidatorConfig } from './schema.ts';

export default definePlugin<RequestValidatorConfig>({
  name: 'request-validator',
  version: '1.0.0',
  priority: 999,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: ({ body_schema: schema, max_body_size: maxBytes }) => (schema === null ? {} : { requestBody: { maxBytes } }),
  setup: validateRequests,
});
