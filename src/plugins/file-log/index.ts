import { allProtocols, definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { logToFile } from './handler.ts';

export default definePlugin({
  name: 'file-log',
  version: '1.0.0',
  priority: 9,
  protocols: allProtocols,
  defaultProtocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: logToFile,
});
