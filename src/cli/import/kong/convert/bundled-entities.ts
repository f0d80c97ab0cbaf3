import { createEntityRegistry, type EntityRegistry } from '../../../../shared/entities/registry.ts';
import { createPluginCatalog } from '../../../../shared/plugin-loader/catalog.ts';
import { loadPlugins } from '../../../../shared/plugin-loader/load-plugins.ts';

/** The entities of a gateway with all bundled plugins. */
export async function bundledEntities(): Promise<EntityRegistry> {
  const plugins = await loadPlugins(['bundled']);
  const catalog = await createPluginCatalog(plugins);
  const ofPlugins = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  return createEntityRegistry(catalog, ofPlugins.flat());
}
