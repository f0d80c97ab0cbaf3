import { readFile } from 'node:fs/promises';
import { loadedConfigs } from '../../control/declarative/db-less/loaded-configs.ts';
import { createStore, type StoreLog } from '../../control/store/create-store.ts';
import type { Store } from '../../control/store/store.ts';
import type { PluginAdminRoutes } from '../../plugin-sdk/admin-routes.ts';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { PluginCatalog } from '../../shared/entities/plugin-catalog.ts';
import { createEntityRegistry, type EntityRegistry } from '../../shared/entities/registry.ts';
import { createPluginCatalog } from '../../shared/plugin-loader/catalog.ts';
import { loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';
import { storeFileOf } from '../../shared/settings/kinds/prefix.ts';
import type { Settings } from '../../shared/settings/settings.ts';

/** The store, and the definitions of everything in it. */
export interface OpenedStore {
  readonly store: Store;
  readonly entities: EntityRegistry;
  readonly catalog: PluginCatalog;
  readonly plugins: ReadonlyMap<string, Plugin>;
  /** Paths that plugins add to the Admin API, by plugin. */
  readonly pluginAdminRoutes: ReadonlyMap<string, PluginAdminRoutes['adminRoutes']>;
}

/** Opens the store; `store.migrate()` creates its tables. */
export async function openStore(settings: Settings, baseDirectory: string, log: StoreLog): Promise<OpenedStore> {
  const plugins = await loadPlugins(settings.plugins, baseDirectory);
  const withDatabase = settings.database !== 'off';
  const catalog = await createPluginCatalog(plugins, { sharedStore: withDatabase });
  const ofPlugins = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  const ofNode = withDatabase ? [] : [loadedConfigs];
  const entities = createEntityRegistry(catalog, [...ofPlugins.flat(), ...ofNode]);
  const { definitions } = entities;
  const routes = await Promise.all(
    [...plugins.values()].map(async (plugin) => [plugin.name, await plugin.loadAdminRoutes()] as const),
  );
  const pluginAdminRoutes = new Map(routes.flatMap(([name, one]) => (one === null ? [] : [[name, one] as const])));
  const known = { entities, catalog, plugins, pluginAdminRoutes };
  if (settings.database !== 'postgres') {
    const file = storeFileOf(settings.prefix, settings.database);
    return { store: await createStore({ kind: 'sqlite', file, definitions, log }), ...known };
  }
  const ca = settings.trustedCertificates === null ? {} : { ca: await readFile(settings.trustedCertificates, 'utf8') };
  const store = await createStore({ kind: 'postgres', pg: settings.pg, ...ca, definitions, log });
  return { store, ...known };
}
