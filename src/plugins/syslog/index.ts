import { allProtocols, definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { logToSyslog } from './handler.ts';

export default definePlugin({
  name: 'syslog',
  version: '1.0.0',
  priority: 4,
  protocols: allProtocols,
  defaultProtocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: logToSyslog,
});
