import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { countRequests } from './handler.ts';
import { seriesZones } from './zones.ts';

export default definePlugin({
  name: 'prometheus',
  version: '1.0.0',
  priority: 13,
  protocols: allProtocols,
  schema: () => import('./schema.ts'),
  zones: seriesZones,
  metrics: () => import('./metrics.ts'),
  setup: countRequests,
});
