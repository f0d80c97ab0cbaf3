import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { splitTraffic } from './handler.ts';

export default definePlugin({
  name: 'traffic-split',
  version: '1.0.0',
  priority: 790,
  protocols: httpProtocols,
  scopes: ['route', 'service', 'consumer'],
  schema: () => import('./schema.ts'),
  setup: splitTraffic,
});
