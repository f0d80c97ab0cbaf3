import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { loadedConfigs } from '../../control/declarative/db-less/loaded-configs.ts';
import type { DataPlaneStore } from '../../control/hybrid/contract.ts';
import type { PublisherLog } from '../../control/publish/publisher-options.ts';
import { createStore, type StoreLog } from '../../control/store/create-store.ts';
import { inMemory } from '../../control/store/sql/sqlite/in-memory.ts';
import type { FeedPosition, Store } from '../../control/store/store.ts';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import { createEntityRegistry, type EntityRegistry } from '../../shared/entities/registry.ts';
import { createPluginCatalog, type PluginCatalog } from '../../shared/plugin-loader/catalog.ts';
import { addPlugins, loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';
import { storeFileOf } from '../../shared/settings/kinds/prefix.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { version } from '../../version.ts';
import type { Application } from '../embedded/application.ts';

/** The store, and the definitions of everything in it. */
export interface OpenedStore {
  readonly store: Store;
  /** Other nodes can use the store, too: it is not that of a single node in a file. */
  readonly shared: boolean;
  /** The same store, on a data plane; null elsewhere. */
  readonly link: DataPlaneStore | null;
  readonly entities: EntityRegistry;
  readonly catalog: PluginCatalog;
  /** A reload replaces those of users. */
  readonly plugins: Map<string, Plugin>;
}

export interface StoreOptions {
  readonly settings: Settings;
  readonly baseDirectory: string;
  readonly nodeId: string;
  /** Of a data plane: the position of the config that it has; null: it has none. */
  readonly position: FeedPosition | null;
  readonly log: StoreLog & PublisherLog;
  /** See `createStore`. Default: nothing. */
  readonly giveWay?: () => void;
  /** The application that the node runs in. Default: none. */
  readonly application?: Application;
}

/** Opens the store; `store.migrate()` creates its tables. */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const { settings, baseDirectory, log, giveWay, application } = options;
  const plugins = new Map(
    addPlugins(
      await loadPlugins(settings.plugins, baseDirectory, { pins: settings.pluginPins }),
      application?.plugins ?? [],
    ),
  );
  // That of a data plane is the database of its control plane.
  const withDatabase = settings.database !== 'off' || settings.role === 'data_plane';
  const catalog = await createPluginCatalog(plugins, {
    sharedStore: withDatabase,
    untrustedFunctions: settings.untrustedFunctions,
  });
  const ofPlugins = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  const ofNode = withDatabase ? [] : [loadedConfigs];
  const entities = createEntityRegistry(catalog, [...ofPlugins.flat(), ...ofNode]);
  const { definitions } = entities;
  const known = { entities, catalog, plugins, link: null, shared: true };
  if (settings.role === 'data_plane') {
    const link = await openLink(options, entities);
    return { ...known, store: link, link };
  }
  if (settings.database !== 'postgres') {
    const file = application?.inMemory === true ? inMemory : storeFileOf(settings.prefix, settings.database);
    const store = await createStore({ kind: 'sqlite', file, definitions, log, giveWay });
    return { ...known, store, shared: settings.role === 'control_plane' };
  }
  const ca = settings.trustedCertificates === null ? {} : { ca: await readFile(settings.trustedCertificates, 'utf8') };
  const store = await createStore({ kind: 'postgres', pg: settings.pg, ...ca, definitions, log });
  return { store, ...known };
}

async function openLink(
  { settings: { hybrid }, nodeId, position, log }: StoreOptions,
  entities: EntityRegistry,
): Promise<DataPlaneStore> {
  if (hybrid === null) throw new TypeError('a data plane has settings of its connection');
  const { openDataPlaneStore } = await import('../../control/hybrid/client/open-data-plane-store.ts');
  return openDataPlaneStore({ nodeId, hostname: hostname(), version, settings: hybrid, entities, position, log });
}
