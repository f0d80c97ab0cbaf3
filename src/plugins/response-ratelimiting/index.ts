import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { countedByResponse } from './handler.ts';
import type { ResponseRatelimitingConfig } from './schema.ts';

/** Room for some ten thousand clients; shared by all instances of the node. */
const zoneBytes = 4 * 1024 * 1024;

export default definePlugin({
  name: 'response-ratelimiting',
  version: '1.0.0',
  priority: 900,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: { responseBody: { mode: 'stream' } },
  zones: ({ policy, fault_tolerant: tolerant }: ResponseRatelimitingConfig) =>
    (policy ?? 'local') === 'local' || (policy === 'cluster' && tolerant)
      ? [{ name: 'counters', bytes: zoneBytes }]
      : [],
  setup: countedByResponse,
});
