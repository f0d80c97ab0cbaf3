import { allProtocols, definePlugin } from '../../plugin-sdk/index.ts';
import { cacheResponses, maxBody, needsRequestBody } from './handler.ts';
import type { ProxyCacheConfig } from './schema.ts';
import { zones } from './zones.ts';

export default definePlugin<ProxyCacheConfig>({
  name: 'proxy-cache',
  version: '1.0.0',
  priority: 100,
  protocols: allProtocols,
  schema: () => import('./schema.ts'),
  needs: (config) => (needsRequestBody(config) ? { requestBody: { maxBytes: maxBody(config) } } : {}),
  zones,
  adminRoutes: () => import('./admin.ts'),
  background: () => import('./background.ts'),
  setup: cacheResponses,
});
