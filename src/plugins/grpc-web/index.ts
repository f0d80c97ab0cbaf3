import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { translateGrpcWeb } from './handler.ts';

export default definePlugin({
  name: 'grpc-web',
  version: '1.0.0',
  priority: 3,
  protocols: allProtocols,
  defaultProtocols: ['grpc', 'grpcs', 'http', 'https'],
  schema: () => import('./schema.ts'),
  // Needed only where a body must be decoded as a whole: base64 and JSON.
  needs: { requestBody: { maxBytes: 8 * 1024 * 1024 }, responseBody: { mode: 'stream' } },
  setup: translateGrpcWeb,
});
