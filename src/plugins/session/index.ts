import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { keepSessions, needsOf, zonesOf } from './handler.ts';

export default definePlugin({
  name: 'session',
  version: '1.0.0',
  priority: 1900,
  protocols: allProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: needsOf,
  zones: zonesOf,
  setup: keepSessions,
});
