import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { mirrorRequests } from './handler.ts';

export default definePlugin({
  name: 'request-mirror',
  version: '1.0.0',
  priority: 782,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: ({ with_body, max_body }) => (with_body ? { requestBody: { maxBytes: max_body } } : {}),
  setup: mirrorRequests,
});
