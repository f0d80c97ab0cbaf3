import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ConfigDefaults } from '../config-defaults.ts';
import { digestOf, type RecordedModule } from './recorded-module.ts';
import { versionLength } from './version-url.ts';

/**
 * The code of a user's plugin at one moment. All threads of a node load these sources, so that they run the same code even while the
 * files change. It can be sent between threads.
 */
export interface PluginCode {
  /** Path of the plugin's first module. */
  readonly file: string;
  /** Hash of all files: equal code has the same version, and is loaded once. */
  readonly version: string;
  /** By URL. */
  readonly modules: ReadonlyMap<string, RecordedModule>;
  /** Of the plugin's configuration. */
  readonly defaults: ConfigDefaults;
}

export function pluginCode(file: string, modules: ReadonlyMap<string, RecordedModule>): PluginCode {
  const files = [...modules].map(([url, { digest }]) => `${url}\n${digest}`);
  return { file, version: digestOf(files.toSorted().join('\n')).slice(0, versionLength), modules, defaults: new Map() };
}

/** The files have the recorded content. */
export function isOnDisk({ modules }: PluginCode): boolean {
  return [...modules].every(([url, { digest }]) => {
    try {
      return digestOf(readFileSync(fileURLToPath(url))) === digest;
    } catch {
      return false;
    }
  });
}

/** A file that cannot be loaded again, and differs; null: none. */
export function changedFixedModule(before: PluginCode, next: PluginCode): string | null {
  for (const [url, { fixed, digest }] of next.modules) {
    const old = before.modules.get(url);
    if (old !== undefined && (fixed || old.fixed) && old.digest !== digest) return fileURLToPath(url);
  }
  return null;
}
