import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { cacheAnswers } from './handler.ts';
import { maxBody, readsBodies } from './policy.ts';
import type { ProxyCacheConfig } from './schema.ts';
import { zonesOf } from './stores.ts';

export default definePlugin<ProxyCacheConfig>({
  name: 'proxy-cache',
  version: '1.0.0',
  priority: 100,
  protocols: allProtocols,
  schema: () => import('./schema.ts'),
  needs: (config) => (readsBodies(config) ? { requestBody: { maxBytes: maxBody(config) } } : {}),
  zones: zonesOf,
  adminRoutes: () => import('./admin.ts'),
  setup: cacheAnswers,
});
