import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { exportToStatsd } from './handler.ts';

export default definePlugin({
  name: 'statsd',
  version: '1.0.0',
  priority: 11,
  protocols: allProtocols,
  schema: () => import('./schema.ts'),
  background: () => import('./background.ts'),
  setup: exportToStatsd,
});
