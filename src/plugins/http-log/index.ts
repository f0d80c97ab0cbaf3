import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { logToHttp } from './handler.ts';

export default definePlugin({
  name: 'http-log',
  version: '1.0.0',
  priority: 12,
  protocols: allProtocols,
  schema: () => import('./schema.ts'),
  setup: logToHttp,
});
