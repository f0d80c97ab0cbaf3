import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { limitRate } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'rate-limiting',
  version: '1.0.0',
  priority: 910,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  zones,
  setup: limitRate,
});
