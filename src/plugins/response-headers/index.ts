import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { setResponseHeaders } from './handler.ts';

export default definePlugin({
  name: 'response-headers',
  version: '1.0.0',
  priority: 798,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: setResponseHeaders,
});
