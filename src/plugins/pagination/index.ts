import { definePlugin } from '../../plugin-sdk/index.ts';
import { paginate } from './handler.ts';
import type { PaginationConfig } from './schema.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'pagination',
  version: '1.0.0',
  priority: 785,
  protocols: ['http', 'https'],
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  needs: ({ max_body_bytes: maxBytes }: PaginationConfig) => ({ responseBody: { mode: 'buffer', maxBytes } }),
  zones,
  setup: paginate,
});
