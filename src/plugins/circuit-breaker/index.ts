import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { breakCircuits } from './handler.ts';
import type { CircuitBreakerConfig } from './schema.ts';

/** Room for several thousand circuits; shared by all instances of the node. */
const zoneBytes = 4 * 1024 * 1024;

export default definePlugin({
  name: 'circuit-breaker',
  version: '1.0.0',
  priority: 784,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  zones: ({ fallback, stale_memory: answers }: CircuitBreakerConfig) => [
    { name: 'circuits', bytes: zoneBytes },
    ...(fallback === 'stale' ? [{ name: 'answers', kind: 'store' as const, bytes: answers }] : []),
  ],
  adminRoutes: () => import('./admin.ts'),
  background: () => import('./background.ts'),
  metrics: () => import('./metrics.ts'),
  setup: breakCircuits,
});
