import { boundListeners } from '../../../shared/settings/kinds/bound-listeners.ts';
import type { AdminDependencies, AdminOptions, ListedPlugin } from '../contract.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { type AdminRoute, ok } from '../http/admin-route.ts';
import { iterateRows } from '../lists/iterate-rows.ts';

/** The release of Kong whose Admin API this one implements; clients refuse unknown releases. */
export const kongVersion = '3.9.1';

/** `GET /`: clients read it first, for the version and the plugins. */
export function nodeInfoRoute(context: AdminContext, deps: AdminDependencies, options: AdminOptions): AdminRoute {
  const enabledPlugins = enabledPluginsReader(context);
  return {
    path: '/',
    tag: 'node',
    operations: {
      GET: {
        access: 'read',
        handle: async () => ok(nodeInfo(deps, options, await enabledPlugins())),
        notes: { summary: 'Version, plugins and configuration of the node', answer: 'object' },
      },
    },
  };
}

function nodeInfo(deps: AdminDependencies, options: AdminOptions, enabled: readonly string[]): unknown {
  const { node, settings } = deps;
  return {
    tagline: 'Welcome to kong',
    version: kongVersion,
    sluicegate_version: node.version,
    edition: 'community',
    hostname: node.hostname,
    node_id: node.nodeId,
    // Kong Manager shows it; there is no Lua here, so it is the JavaScript engine.
    lua_version: `Node.js ${process.version}`,
    timers: { running: 0, pending: 0 },
    pids: { master: node.pids.master, workers: node.pids.workers },
    plugins: { available_on_server: availablePlugins(options), enabled_in_cluster: enabled },
    configuration: {
      role: 'traditional',
      router_flavor: 'traditional_compatible',
      stream_listeners: {},
      ...settings.public,
      ...boundListeners(settings),
      log_level: options.logLevel.get(),
    },
  };
}

function availablePlugins({ plugins }: AdminOptions): Readonly<Record<string, unknown>> {
  const entry = ({ version, priority, capabilities }: ListedPlugin) =>
    capabilities == null ? { version, priority } : { version, priority, capabilities };
  return Object.fromEntries([...plugins].map(([name, plugin]) => [name, entry(plugin)]));
}

/** Distinct names of configured plugins; read again only after the store has changed. */
function enabledPluginsReader({ store }: AdminContext): () => Promise<readonly string[]> {
  let known: { readonly stamp: string; readonly names: readonly string[] } | null = null;
  return async () => {
    const { stamp } = await store.position();
    if (known?.stamp === stamp) return known.names;
    const names = new Set<string>();
    for await (const row of iterateRows(store, 'plugins')) names.add(String(row['name']));
    known = { stamp, names: [...names].sort() };
    return known.names;
  };
}
