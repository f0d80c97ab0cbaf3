import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { countRequests } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'prometheus',
  version: '1.0.0',
  priority: 13,
  protocols: allProtocols,
  schema: () => import('./schema.ts'),
  zones,
  metrics: () => import('./metrics.ts'),
  setup: countRequests,
});
