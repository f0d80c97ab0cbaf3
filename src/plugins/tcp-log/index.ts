import { allProtocols, definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { logToTcp } from './handler.ts';

export default definePlugin({
  name: 'tcp-log',
  version: '1.0.0',
  priority: 7,
  protocols: allProtocols,
  defaultProtocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: logToTcp,
});
