import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { limitConcurrency } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'concurrency-limiting',
  version: '1.0.0',
  priority: 920,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  zones,
  setup: limitConcurrency,
});
