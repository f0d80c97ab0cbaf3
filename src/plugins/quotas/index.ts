import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { enforceQuotas } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'quotas',
  version: '1.0.0',
  priority: 905,
  protocols: httpProtocols,
  schema: () => import('./schema.ts'),
  adminRoutes: () => import('./admin.ts'),
  zones,
  setup: enforceQuotas,
});
