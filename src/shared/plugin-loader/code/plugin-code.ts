import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A module as it was read when the code was recorded. */
export interface RecordedModule {
  /** As Node names it; '': only found in the text of an `import()`, and its name says what it is. */
  readonly format: string;
  readonly source: string | Uint8Array;
  /** A CommonJS module: Node loads it once in each thread, so it cannot be replaced. */
  readonly fixed: boolean;
}

/**
 * The code of a user's plugin at one moment. All threads of a node load these sources, so that they run the same code even while the
 * files change. It can be sent between threads.
 */
export interface PluginCode {
  /** Path of the plugin's first module. */
  readonly file: string;
  /** Hash of all sources: equal code has the same version, and is loaded once. */
  readonly version: string;
  /** By URL. */
  readonly modules: ReadonlyMap<string, RecordedModule>;
}

/** Hexadecimal digits of a version. */
export const versionLength = 16;

export function pluginCode(file: string, modules: ReadonlyMap<string, RecordedModule>): PluginCode {
  const hash = createHash('sha256');
  const inOrder = [...modules].sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [url, { format, source }] of inOrder) hash.update(`${url}\n${format}\n${source.length}\n`).update(source);
  return { file, version: hash.digest('hex').slice(0, versionLength), modules };
}

/** The files have the recorded content. */
export function isOnDisk({ modules }: PluginCode): boolean {
  return [...modules].every(([url, { source }]) => {
    try {
      const bytes = readFileSync(fileURLToPath(url));
      return typeof source === 'string' ? bytes.toString() === source : bytes.equals(source);
    } catch {
      return false;
    }
  });
}

/** A file that cannot be loaded again, and differs; null: none. */
export function changedFixedModule(before: PluginCode, next: PluginCode): string | null {
  for (const [url, { fixed, source }] of next.modules) {
    const old = before.modules.get(url);
    if (old !== undefined && (fixed || old.fixed) && old.source !== source) return fileURLToPath(url);
  }
  return null;
}
