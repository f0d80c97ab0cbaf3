import { allProtocols, definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { logToUdp } from './handler.ts';

export default definePlugin({
  name: 'udp-log',
  version: '1.0.0',
  priority: 8,
  protocols: allProtocols,
  defaultProtocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: logToUdp,
});
