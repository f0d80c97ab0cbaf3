import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { exportToDatadog } from './handler.ts';

export default definePlugin({
  name: 'datadog',
  version: '1.0.0',
  priority: 10,
  protocols: allProtocols,
  schema: () => import('./schema.ts'),
  setup: exportToDatadog,
});
