import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { authorize } from './handler.ts';

export default definePlugin({
  name: 'authorization',
  version: '1.0.0',
  priority: 940,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: authorize,
});
