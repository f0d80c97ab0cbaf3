import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { terminateRequests } from './handler.ts';
import type { RequestTerminationConfig } from './schema.ts';

export default definePlugin({
  name: 'request-termination',
  version: '1.0.0',
  priority: 2,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: (config: RequestTerminationConfig) => (config.echo ? { requestBody: { maxBytes: 1024 * 1024 } } : {}),
  setup: terminateRequests,
});
