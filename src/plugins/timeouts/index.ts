import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { setTimeouts } from './handler.ts';

export default definePlugin({
  name: 'timeouts',
  version: '1.0.0',
  priority: 788,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: setTimeouts,
});
