import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuiltFile, type BuiltManifest, type Encoding, manifestName, readManifest, suffixes } from './manifest.ts';

/** Of the clone and of the published package: `dashboard/dist` at the top, from `src` and from `dist`. */
export const builtFolder = fileURLToPath(new URL('../../../dashboard/dist', import.meta.url));

/**
 * The built files of the dashboard. Only paths of the manifest can be read, so no URL leads out of the folder. A build that is finished
 * while the gateway runs replaces the manifest.
 */
export class BuiltFiles {
  readonly folder: string;
  #manifest: BuiltManifest | null = null;
  #readAt: number | null = null;

  constructor(folder: string = builtFolder) {
    this.folder = folder;
  }

  /** Looks whether there is another build. False: there is none. */
  refresh(): boolean {
    const changed = changeTime(join(this.folder, manifestName));
    if (changed !== this.#readAt) {
      this.#manifest = changed === null ? null : readManifest(this.folder);
      this.#readAt = changed;
    }
    return this.#manifest !== null;
  }

  /** A page that is open while the gateway restarts, or while there is a new build, requests files before the next page. */
  find(path: string): BuiltFile | null {
    return this.#known(path) ?? (this.refresh() ? this.#known(path) : null);
  }

  #known(path: string): BuiltFile | null {
    const files = this.#manifest?.files;
    return files !== undefined && Object.hasOwn(files, path) ? (files[path] ?? null) : null;
  }

  /** Throws when the file was removed meanwhile. `path`: one that `find` has found. */
  read(path: string, encoding: Encoding): Buffer {
    return readFileSync(join(this.folder, `${path}${suffixes[encoding]}`));
  }
}

function changeTime(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
