import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { handleSessions, sessionNeeds } from './handler.ts';
import { zones } from './zones.ts';

export default definePlugin({
  name: 'session',
  version: '1.0.0',
  priority: 1900,
  protocols: allProtocols,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  entities: () => import('./entities.ts'),
  needs: sessionNeeds,
  zones,
  setup: handleSessions,
});
