import type { PluginUsers } from '../../control/plugin-reload/plugin-reload.ts';
import type { Publisher } from '../../control/publish/publisher.ts';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { ZoneRegistry } from '../../shared/zones/zone-registry.ts';
import type { NodeMetrics } from '../observability/node-metrics.ts';
import type { BackgroundParts } from './background-parts.ts';
import type { OpenedStore } from './open-store.ts';

export interface PluginUsersOptions {
  readonly data: OpenedStore;
  readonly zones: ZoneRegistry;
  readonly background: BackgroundParts;
  readonly metrics: NodeMetrics;
  readonly publisher: Publisher;
}

/** Everything of the control plane that holds plugins. Their entities and paths of the Admin API stay those of the start. */
export function pluginUsers({ data, zones, background, metrics, publisher }: PluginUsersOptions): PluginUsers {
  const rows = () => publisher.config().upserts.plugins ?? [];
  return {
    rows,
    tryZones: (candidates) => zones.tryPlugins(candidates, rows()),
    async prepare(plugins: readonly Plugin[]) {
      const described = await Promise.all(plugins.map((plugin) => data.catalog.prepare(plugin)));
      return () => {
        for (const describe of described) describe();
        for (const plugin of plugins) {
          data.plugins.set(plugin.name, plugin);
          metrics.pluginReplaced(plugin.name);
          background.replacePlugin(plugin, rows());
        }
      };
    },
  };
}
