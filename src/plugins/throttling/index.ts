import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { throttle } from './handler.ts';

/** Room for some 60,000 clients; shared by all instances of the node. */
const zoneBytes = 4 * 1024 * 1024;

export default definePlugin({
  name: 'throttling',
  version: '1.0.0',
  priority: 912,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  zones: () => [{ name: 'turns', bytes: zoneBytes }],
  setup: throttle,
});
