import { createEntityRegistry, type EntityRegistry } from '../../shared/entities/registry.ts';
import { createPluginCatalog } from '../../shared/plugin-loader/catalog.ts';
import { loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';
import { pluginBase } from '../../shared/plugin-loader/plugin-base.ts';
import type { Settings } from '../../shared/settings/settings.ts';

/** The entities of a node with these plugins, those of the plugins included; without its store. */
export async function loadEntities(
  settings: Pick<Settings, 'plugins' | 'pluginFolder' | 'pluginPins' | 'untrustedFunctions'>,
  cwd: string,
): Promise<EntityRegistry> {
  const plugins = await loadPlugins(settings.plugins, pluginBase(settings, cwd), { pins: settings.pluginPins });
  const own = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  const { untrustedFunctions } = settings;
  return createEntityRegistry(await createPluginCatalog(plugins, { untrustedFunctions }), own.flat());
}
