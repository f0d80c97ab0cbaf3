import type { Plugin, PluginProtocol, PluginSchema, PluginScope } from '../../plugin-sdk/define-plugin.ts';
import type { UntrustedFunctions } from '../../plugin-sdk/tools.ts';
import type { EntityCheck } from '../schema/entity-checks.ts';
import type { Field } from '../schema/field-meta.ts';
import { type RecordSchema, string } from '../schema/fields.ts';
import { extendRecord } from '../schema/record.ts';
import { configDefaults, rememberDefaults } from './config-defaults.ts';
import { isDeferred } from './deferred-plugin.ts';

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
  /** Loads the schema of other code of a known plugin. The returned function puts it in effect. */
  prepare(plugin: Plugin): Promise<() => void>;
}

export interface CatalogOptions {
  /** Several nodes may share the store. Default: true. */
  readonly sharedStore?: boolean;
  /** `untrusted_lua` of the node. Default: off. */
  readonly untrustedFunctions?: UntrustedFunctions;
}

/**
 * For the control plane only: schemas load the validation library. That of a bundled plugin is loaded when it is first read: all of
 * them take 100 ms and 10 MB.
 */
export async function createPluginCatalog(
  plugins: ReadonlyMap<string, Plugin>,
  { sharedStore = true, untrustedFunctions = 'off' }: CatalogOptions = {},
): Promise<PluginCatalog> {
  const options = { sharedStore, untrustedFunctions };
  const entries = await Promise.all([...plugins.values()].map((plugin) => describePlugin(plugin, options)));
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const names = Object.freeze([...byName.keys()].sort());
  return Object.freeze({
    names: () => names,
    describe: (name: string) => byName.get(name) ?? null,
    async prepare(plugin: Plugin) {
      const entry = await describePlugin(plugin, options);
      // Now, while nothing depends on it.
      if (!isDeferred(plugin)) void entry.config;
      return () => void byName.set(entry.name, entry);
    },
  });
}

async function describePlugin(plugin: Plugin, options: Required<CatalogOptions>): Promise<CatalogEntry> {
  const { name, version, priority, protocols, defaultProtocols, scopes } = plugin;
  const load = isDeferred(plugin) ? plugin.schemaNow : await loaded(plugin);
  let described: Pick<CatalogEntry, 'config' | 'checks'> | null = null;
  const schema = () => {
    described ??= describeSchema(load(), options);
    return described;
  };
  return Object.freeze({
    ...{ name, version, priority, protocols, defaultProtocols, scopes },
    get config() {
      return schema().config;
    },
    get checks() {
      return schema().checks;
    },
  });
}

async function loaded(plugin: Plugin): Promise<() => PluginSchema> {
  const schema = await plugin.loadSchema();
  rememberDefaults(plugin, configDefaults(schema.config));
  return () => schema;
}

function describeSchema(
  { config, checks = [], nodeChecks }: PluginSchema,
  { sharedStore, untrustedFunctions }: Required<CatalogOptions>,
) {
  const all = nodeChecks === undefined ? checks : [...checks, ...nodeChecks({ untrustedFunctions })];
  return { config: sharedStore ? config : forOneNode(config), checks: all };
}

/** The same configuration without the values that need a store which several nodes share. */
function forOneNode(config: RecordSchema): RecordSchema {
  const fields: Record<string, Field> = {};
  for (const [name, { meta }] of config.fields) {
    const { shared_store_values: refused } = meta;
    if (refused === undefined) continue;
    fields[name] = string({ ...meta, one_of: (meta.one_of ?? []).filter((value) => !refused.includes(String(value))) });
  }
  return Object.keys(fields).length === 0 ? config : extendRecord(config, { fields });
}
