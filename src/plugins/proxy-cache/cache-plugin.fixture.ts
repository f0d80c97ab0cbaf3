import { definePlugin, httpProtocols, type Plugin } from '../../plugin-sdk/index.ts';
import { cacheOver } from './cache.ts';
import { MapStore } from './map-store.fixture.ts';
import { cachePolicy, maxBody, readsBodies } from './policy.ts';
import type { ProxyCacheConfig } from './schema.ts';

/** The plugin over a store that the test can look into. */
export function cachePlugin(store: MapStore = new MapStore()): Plugin {
  return definePlugin<ProxyCacheConfig>({
    name: 'proxy-cache',
    version: '1.0.0',
    priority: 100,
    protocols: httpProtocols,
    schema: () => import('./schema.ts'),
    needs: (config) => (readsBodies(config) ? { requestBody: { maxBytes: maxBody(config) } } : {}),
    setup: (config, tools) => cacheOver(cachePolicy(config, tools.instanceId), store, tools),
  });
}
