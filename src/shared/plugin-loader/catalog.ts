import type { Plugin, PluginProtocol, PluginScope } from '../../plugin-sdk/define-plugin.ts';
import type { EntityCheck } from '../schema/entity-checks.ts';
import type { RecordSchema } from '../schema/fields.ts';

/** What the control plane needs to know about a plugin. */
export interface CatalogEntry {
  readonly name: string;
  readonly version: string;
  readonly priority: number;
  readonly config: RecordSchema;
  /** Rules over the whole row; fields of the configuration are `config.<name>`. */
  readonly checks: readonly EntityCheck[];
  /** Protocols that an instance may name. */
  readonly protocols: readonly PluginProtocol[];
  readonly defaultProtocols: readonly PluginProtocol[];
  readonly scopes: readonly PluginScope[];
}

export interface PluginCatalog {
  /** Sorted. */
  names(): readonly string[];
  describe(name: string): CatalogEntry | null;
}

/** Loads the schemas of all plugins. For the control plane only: it loads the validation library. */
export async function createPluginCatalog(plugins: ReadonlyMap<string, Plugin>): Promise<PluginCatalog> {
  const entries = await Promise.all([...plugins.values()].map(describePlugin));
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const names = Object.freeze([...byName.keys()].sort());
  return Object.freeze({ names: () => names, describe: (name: string) => byName.get(name) ?? null });
}

async function describePlugin(plugin: Plugin): Promise<CatalogEntry> {
  const { name, version, priority, protocols, defaultProtocols, scopes } = plugin;
  const { config, checks = [] } = await plugin.loadSchema();
  return Object.freeze({ name, version, priority, config, checks, protocols, defaultProtocols, scopes });
}
