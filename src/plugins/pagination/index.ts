import { definePlugin } from '../../plugin-sdk/index.ts';
import { paginate } from './handler.ts';
import type { PaginationConfig } from './schema.ts';

export default definePlugin({
  name: 'pagination',
  version: '1.0.0',
  priority: 785,
  protocols: ['http', 'https'],
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  needs: ({ max_body_bytes: maxBytes }: PaginationConfig) => ({ responseBody: { mode: 'buffer', maxBytes } }),
  // For a secret that the workers agree upon where none is configured.
  zones: ({ secret }: PaginationConfig) => (secret === null ? [{ name: 'secret', bytes: 4096, kind: 'raw' }] : []),
  setup: paginate,
});
