import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { compress } from './handler.ts';
import type { CompressionConfig } from './schema.ts';

export default definePlugin({
  name: 'compression',
  version: '1.0.0',
  priority: 1,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: ({ decompress_requests: decompresses, max_request_bytes: maxBytes }: CompressionConfig) => ({
    responseBody: { mode: 'stream' },
    ...(decompresses ? { requestBody: { maxBytes } } : {}),
  }),
  setup: compress,
});
