import { createEntityRegistry, type EntityRegistry } from '../../shared/entities/registry.ts';
import { createPluginCatalog } from '../../shared/plugin-loader/catalog.ts';
import { loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';
import type { Settings } from '../../shared/settings/settings.ts';

/** The entities of a node with these settings, those of its plugins included; without its store. */
export async function loadEntities(settings: Settings, baseDirectory: string): Promise<EntityRegistry> {
  const plugins = await loadPlugins(settings.plugins, baseDirectory);
  const own = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  return createEntityRegistry(await createPluginCatalog(plugins), own.flat());
}
