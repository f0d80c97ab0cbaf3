import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { correlate } from './handler.ts';

export default definePlugin({
  name: 'correlation-id',
  version: '1.0.0',
  priority: 100001,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: correlate,
});
