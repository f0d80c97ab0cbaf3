import type { Plugin } from '../../../plugin-sdk/define-plugin.ts';
import type { UntrustedFunctions } from '../../../plugin-sdk/tools.ts';
import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import { createEntityRegistry, type EntityRegistry } from '../../../shared/entities/registry.ts';
import { createPluginCatalog } from '../../../shared/plugin-loader/catalog.ts';
import { loadPlugins } from '../../../shared/plugin-loader/load-plugins.ts';

/** What a gateway knows of its plugins. */
export interface KnownPlugins {
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly entities: EntityRegistry;
}

interface Bundled {
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly entities: ReadonlyMap<string, readonly EntityDefinition[]>;
}

let bundled: Promise<Bundled> | null = null;
const withoutOthers = new Map<UntrustedFunctions, Promise<KnownPlugins>>();

/** The bundled plugins and these, which replace bundled ones of the same name. */
export async function knownPlugins(own: readonly Plugin[], functions: UntrustedFunctions): Promise<KnownPlugins> {
  bundled ??= loadBundled();
  const { plugins, entities } = await bundled;
  if (own.length === 0) {
    const known = withoutOthers.get(functions) ?? describe(plugins, [...entities.values()].flat(), functions);
    withoutOthers.set(functions, known);
    return known;
  }
  const names = own.map(({ name }) => name);
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) throw new TypeError(`two plugins have the name '${repeated}'`);
  const brought = await Promise.all(own.map((plugin) => plugin.loadEntities()));
  const others = [...entities].filter(([name]) => !names.includes(name)).flatMap(([, list]) => list);
  const all = new Map([...plugins, ...own.map((plugin) => [plugin.name, plugin] as const)]);
  return describe(all, [...others, ...brought.flat()], functions);
}

async function loadBundled(): Promise<Bundled> {
  const plugins = await loadPlugins(['bundled']);
  const entities = await Promise.all(
    [...plugins].map(async ([name, plugin]) => [name, await plugin.loadEntities()] as const),
  );
  return { plugins, entities: new Map(entities) };
}

async function describe(
  plugins: ReadonlyMap<string, Plugin>,
  entities: readonly EntityDefinition[],
  untrustedFunctions: UntrustedFunctions,
): Promise<KnownPlugins> {
  const catalog = await createPluginCatalog(plugins, { sharedStore: false, untrustedFunctions });
  return { plugins, entities: createEntityRegistry(catalog, entities) };
}
