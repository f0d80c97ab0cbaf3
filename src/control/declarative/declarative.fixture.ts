import { createEntityRegistry, type EntityRegistry } from '../../shared/entities/registry.ts';
import { createPluginCatalog } from '../../shared/plugin-loader/catalog.ts';
import { loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';
import type { ConfigDocument, ConfigRows, DeclaredConfig, ReadOptions } from './contract.ts';
import { declareConfig } from './declare/declare-config.ts';
import { documentFrom, parseDocument } from './document/parse-document.ts';

let registry: Promise<EntityRegistry> | null = null;

/** The entities of a gateway with all bundled plugins. */
export function bundledRegistry(): Promise<EntityRegistry> {
  registry ??= createRegistry();
  return registry;
}

async function createRegistry(): Promise<EntityRegistry> {
  const plugins = await loadPlugins(['bundled'], process.cwd());
  const brought = await Promise.all([...plugins.values()].map((plugin) => plugin.loadEntities()));
  return createEntityRegistry(await createPluginCatalog(plugins, { untrustedFunctions: 'on' }), brought.flat());
}

export interface Declaring extends ReadOptions {
  readonly current?: ConfigRows;
  readonly hashKeys?: boolean;
  readonly now?: number;
}

/** Some instant, in milliseconds. */
export const now = 1_700_000_000_123;

/** Declares a text, or the value of a JSON body without `_format_version`. */
export async function declare(
  config: string | Readonly<Record<string, unknown>>,
  options: Declaring = {},
): Promise<DeclaredConfig> {
  return declareDocument(readConfig(config, options), options);
}

export function readConfig(
  config: string | Readonly<Record<string, unknown>>,
  options: ReadOptions = {},
): ConfigDocument {
  if (typeof config === 'string') return parseDocument(config, options);
  return documentFrom({ _format_version: '3.0', ...config }, options);
}

export async function declareDocument(document: ConfigDocument, options: Declaring = {}): Promise<DeclaredConfig> {
  return declareConfig(document, {
    entities: await bundledRegistry(),
    hashKeys: options.hashKeys ?? false,
    current: options.current ?? {},
    now: options.now ?? now,
  });
}
