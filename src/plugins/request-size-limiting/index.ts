import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { limitRequestSize } from './handler.ts';

export default definePlugin({
  name: 'request-size-limiting',
  version: '1.0.0',
  priority: 951,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: limitRequestSize,
});
