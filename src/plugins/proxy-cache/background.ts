import type { BackgroundTools, ConfiguredInstance, PluginBackground } from '../../plugin-sdk/index.ts';
import { type NodePurge, purgeStores } from './purge.ts';
import type { ProxyCacheConfig } from './schema.ts';

/** Purges the memory of this node when another node was asked to purge. */
export function background(tools: BackgroundTools): PluginBackground {
  let instances: ReadonlyMap<string, ProxyCacheConfig> = new Map();
  const purge = async (ids: Iterable<string>, what: NodePurge['purge']): Promise<void> => {
    for (const id of ids) {
      const config = instances.get(id);
      if (config?.strategy === 'memory') await purgeStores(id, config, what, tools);
    }
  };
  return {
    configured(configured: readonly ConfiguredInstance[]) {
      instances = new Map(configured.map(({ id, config }) => [id, config as ProxyCacheConfig]));
    },
    handle: async () => null,
    received(message) {
      const { purge: what, instance } = message as NodePurge;
      return purge(instance === null ? instances.keys() : [instance], what);
    },
    missed: () => purge(instances.keys(), 'everything'),
    stop: () => {},
  };
}
