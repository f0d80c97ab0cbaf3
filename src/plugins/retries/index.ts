import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { retryRequests } from './handler.ts';

/** Two counts for each service: room for some 15,000 services; shared by all instances of the node. */
const zoneBytes = 2 * 1024 * 1024;

export default definePlugin({
  name: 'retries',
  version: '1.0.0',
  priority: 786,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  zones: () => [{ name: 'budget', bytes: zoneBytes }],
  setup: retryRequests,
});
