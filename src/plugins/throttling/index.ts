import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { throttle } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'throttling',
  version: '1.0.0',
  priority: 912,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  zones,
  setup: throttle,
});
