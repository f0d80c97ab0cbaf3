import { definePlugin, httpProtocols } from 'sluicegate/plugin-sdk';
import { countVisits } from './handler.ts';
import type { VisitsConfig } from './schema.ts';
import { zones } from './zones.ts';

export default definePlugin<VisitsConfig>({
  name: 'visits',
  version: '1.0.0',
  priority: 510,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: ({ trace_rate: rate }) => (rate > 0 ? { trace: { rate } } : {}),
  zones,
  metrics: () => import('./metrics.ts'),
  setup: countVisits,
});
