import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { readsBodies } from './body-change.ts';
import { transformRequest } from './handler.ts';
import type { RequestTransformerConfig } from './schema.ts';

export default definePlugin({
  name: 'request-transformer',
  version: '1.0.0',
  priority: 801,
  protocols: allProtocols,
  schema: () => import('./schema.ts'),
  needs: (config: RequestTransformerConfig) =>
    readsBodies(config) ? { requestBody: { maxBytes: config.max_body_size } } : {},
  setup: transformRequest,
});
