import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { redirect } from './handler.ts';

export default definePlugin({
  name: 'redirect',
  version: '1.0.0',
  priority: 779,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: redirect,
});
