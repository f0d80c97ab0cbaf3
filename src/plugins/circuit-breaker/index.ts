import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { breakCircuits } from './handler.ts';

/** Room for several thousand circuits; shared by all instances of the node. */
const zoneBytes = 4 * 1024 * 1024;

export default definePlugin({
  name: 'circuit-breaker',
  version: '1.0.0',
  priority: 784,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  zones: () => [{ name: 'circuits', bytes: zoneBytes }],
  adminRoutes: () => import('./admin.ts'),
  background: () => import('./background.ts'),
  setup: breakCircuits,
});
