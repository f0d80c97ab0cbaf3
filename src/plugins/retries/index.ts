import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { retryRequests } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'retries',
  version: '1.0.0',
  priority: 786,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  zones,
  setup: retryRequests,
});
