import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { checkGroups } from './handler.ts';

export default definePlugin({
  name: 'acl',
  version: '1.0.0',
  priority: 950,
  protocols: httpProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  setup: checkGroups,
});
