import { definePlugin } from '../../plugin-sdk/index.ts';
import { aggregate } from './handler.ts';
import { compilePlan } from './plan.ts';
import type { AggregateConfig } from './schema.ts';

export default definePlugin<AggregateConfig>({
  name: 'aggregate',
  version: '1.0.0',
  priority: 90,
  protocols: ['http', 'https'],
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  needs: (config) => (compilePlan(config).readsBody ? { requestBody: { maxBytes: config.max_request_body } } : {}),
  setup: aggregate,
});
