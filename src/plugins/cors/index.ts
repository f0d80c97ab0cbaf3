import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { handleCors } from './handler.ts';

export default definePlugin({
  name: 'cors',
  version: '1.0.0',
  priority: 2000,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  setup: handleCors,
});
