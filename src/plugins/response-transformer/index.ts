import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { transformResponse } from './handler.ts';
import { changesJson } from './json-rules.ts';
import type { ResponseTransformerConfig } from './schema.ts';

export default definePlugin({
  name: 'response-transformer',
  version: '1.0.0',
  priority: 800,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: (config: ResponseTransformerConfig) =>
    changesJson(config) ? { responseBody: { mode: 'buffer', maxBytes: config.max_body_size } } : {},
  setup: transformResponse,
});
