import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PluginCatalog } from '../entities/plugin-catalog.ts';
import { createEntityRegistry, type EntityRegistry } from '../entities/registry.ts';
import type { ErrorLog } from '../observability/error-log.ts';
import { createPluginCatalog } from '../plugin-runner/catalog.ts';
import { loadPlugins } from '../plugin-runner/load-plugins.ts';
import type { PluginAdminRoutes } from '../plugin-sdk/admin-routes.ts';
import type { Plugin } from '../plugin-sdk/define-plugin.ts';
import type { Settings } from '../settings/settings.ts';
import { createStore } from '../store/create-store.ts';
import type { Store } from '../store/store.ts';

/** The store and the definitions of all that it holds. */
export interface OpenedStore {
  readonly store: Store;
  readonly entities: EntityRegistry;
  readonly catalog: PluginCatalog;
  readonly plugins: ReadonlyMap<string, Plugin>;
  /** Paths of the Admin API that plugins bring along, by plugin. */
  readonly pluginAdminRoutes: ReadonlyMap<string, PluginAdminRoutes['adminRoutes']>;
}

/** Opens the store; its tables are made by `store.migrate()`. */
export async function openStore(settings: Settings, baseDirectory: string, log: ErrorLog): Promise<OpenedStore> {
  const plugins = await loadPlugins(settings.plugins, baseDirectory);
  const catalog = await createPluginCatalog(plugins);
  const brought = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  const entities = createEntityRegistry(catalog, brought.flat());
  const { definitions } = entities;
  const routes = await Promise.all(
    [...plugins.values()].map(async (plugin) => [plugin.name, await plugin.loadAdminRoutes()] as const),
  );
  const pluginAdminRoutes = new Map(routes.flatMap(([name, one]) => (one === null ? [] : [[name, one] as const])));
  const known = { entities, catalog, plugins, pluginAdminRoutes };
  if (settings.database === 'sqlite') {
    const file = join(settings.prefix, 'store.sqlite');
    return { store: await createStore({ kind: 'sqlite', file, definitions, log }), ...known };
  }
  const ca = settings.trustedCertificates === null ? {} : { ca: await readFile(settings.trustedCertificates, 'utf8') };
  const store = await createStore({ kind: 'postgres', pg: settings.pg, ...ca, definitions, log });
  return { store, ...known };
}
