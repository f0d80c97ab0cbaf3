import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What is watched: files by path with their versions, and the folders that contain them. */
export interface Scan {
  readonly files: ReadonlyMap<string, string>;
  readonly folders: ReadonlySet<string>;
  /** Some folders or files are too many, and not watched. */
  readonly truncated: boolean;
}

export interface ScanLimits {
  readonly folders: number;
  readonly files: number;
}

const defaultLimits: ScanLimits = { folders: 256, files: 5000 };
const maxDepth = 12;

const ignoredFolders: ReadonlySet<string> = new Set(['node_modules', 'bower_components', 'coverage']);
const watchedFile = /\.(?:[cm]?[jt]sx?|json|wasm)$/;
/** What editors write next to a file while they save it. */
const editorFile = /^[.#]|~$|\.(?:tmp|swp|swx|bak)$|^\d+$/;

/** Whether a change of a file of this name can concern a plugin. */
export function isWatchedName(name: string): boolean {
  return watchedFile.test(name) && !editorFile.test(name);
}

/** Changes whenever the file is written or replaced; null: there is none. */
export function versionOf(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() ? `${found.ino} ${found.mtimeMs} ${found.ctimeMs} ${found.size}` : null;
  } catch {
    return null;
  }
}

/** Bytes; 0 also if there is no such file. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Looks at all files below `roots`, and at single `files` and what is next to them. Packages, hidden folders and links to folders are
 * left out.
 */
export function scan(roots: readonly string[], files: readonly string[], limits: ScanLimits = defaultLimits): Scan {
  const found = new Map<string, string>();
  const folders = new Set<string>();
  let truncated = false;
  const queue = roots.map((folder) => ({ folder, depth: 0 }));
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { folder, depth } = next;
    if (folders.has(folder)) continue;
    if (folders.size >= limits.folders || depth > maxDepth) {
      truncated = true;
      continue;
    }
    const entries = entriesOf(folder);
    if (entries === null) continue;
    folders.add(folder);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !ignoredFolders.has(entry.name))
          queue.push({ folder: path, depth: depth + 1 });
      } else if (isWatchedName(entry.name)) {
        if (found.size >= limits.files) truncated = true;
        else note(found, path);
      }
    }
  }
  for (const path of files) note(found, path);
  return { files: found, folders, truncated };
}

function note(found: Map<string, string>, path: string): void {
  const version = versionOf(path);
  if (version !== null) found.set(path, version);
}

/** Null: it cannot be read, or is gone. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return null;
  }
}
