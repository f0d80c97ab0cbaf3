import { definePlugin, httpProtocols } from 'sluicegate/plugin-sdk';
import { greet } from './handler.ts';

export default definePlugin({
  name: 'hello',
  version: '1.0.0',
  priority: 500,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  setup: greet,
});
