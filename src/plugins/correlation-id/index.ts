import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { addCorrelationId } from './handler.ts';

export default definePlugin({
  name: 'correlation-id',
  version: '1.0.0',
  priority: 100001,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: addCorrelationId,
});
