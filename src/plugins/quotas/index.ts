import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { keepQuotas } from './handler.ts';
import type { QuotasConfig } from './schema.ts';

/** Room for some ten thousand clients; shared by all instances of the node. */
const zoneBytes = 4 * 1024 * 1024;

export default definePlugin({
  name: 'quotas',
  version: '1.0.0',
  priority: 905,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  adminRoutes: () => import('./admin.ts'),
  zones: ({ fault_tolerant: tolerant }: QuotasConfig) => (tolerant ? [{ name: 'counters', bytes: zoneBytes }] : []),
  setup: keepQuotas,
});
