import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { validateBodies } from './handler.ts';
import type { BodyValidatorConfig } from './schema.ts';

export default definePlugin<BodyValidatorConfig>({
  name: 'body-validator',
  version: '1.0.0',
  priority: 997,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: ({ schema, response_schema, response_mode, max_body_size: maxBytes }) => ({
    ...(schema === null ? {} : { requestBody: { maxBytes } }),
    ...(response_schema === null || response_mode === 'report' ? {} : { responseBody: { mode: 'buffer', maxBytes } }),
  }),
  setup: validateBodies,
});
