import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { detectBots } from './handler.ts';

export default definePlugin({
  name: 'bot-detection',
  version: '1.0.0',
  priority: 2500,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  setup: detectBots,
});
