import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { breakCircuits } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'circuit-breaker',
  version: '1.0.0',
  priority: 784,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  zones,
  adminRoutes: () => import('./admin.ts'),
  background: () => import('./background.ts'),
  metrics: () => import('./metrics.ts'),
  setup: breakCircuits,
});
