import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { limitByResponse } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'response-ratelimiting',
  version: '1.0.0',
  priority: 900,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  needs: { responseBody: { mode: 'stream' } },
  zones,
  setup: limitByResponse,
});
