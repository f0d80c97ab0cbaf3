import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { limitConcurrency } from './handler.ts';

/** Room for some 60,000 keys that have a request in flight; shared by all instances of the node. */
const zoneBytes = 4 * 1024 * 1024;

export default definePlugin({
  name: 'concurrency-limiting',
  version: '1.0.0',
  priority: 920,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  zones: () => [{ name: 'in-flight', bytes: zoneBytes }],
  setup: limitConcurrency,
});
