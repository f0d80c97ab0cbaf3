import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rootOf } from '../code/plugin-root.ts';
import { digestOf } from '../code/recorded-module.ts';
import { isPath } from '../resolve-entry.ts';

/** Files of one plugin, and their bytes. A folder with more is not one of a plugin. */
const maxFiles = 10_000;
const maxBytes = 64 * 1024 ** 2;

/** Folders that are no part of a plugin: its packages have the integrity hashes of their lock file. */
const skipped: ReadonlySet<string> = new Set(['node_modules', '.git', '.sluicegate']);

export interface PackageDigest {
  /** Absolute. */
  readonly folder: string;
  /** `sha512-` and base64. */
  readonly integrity: string;
  /** SHA-256 in hexadecimal digits of each file, by its absolute path. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * The folder whose files are a plugin: the one that the entry names, that of the npm package, or that of the file.
 *
 * @param entry As in the setting `plugins`.
 * @param file The first module of the plugin, absolute.
 */
export function folderOfEntry(entry: string, file: string, base: string): string {
  const named = isPath(entry) ? resolve(base, entry) : file;
  return named === file ? fileURLToPath(rootOf(file)) : named;
}

/**
 * The digest of all files below the folder of a plugin, by their names. Links count as the path that they name.
 *
 * @throws Error for a folder that is too large, or cannot be read.
 */
export function packageDigest(folder: string): PackageDigest {
  const files = new Map<string, string>();
  const lines: string[] = [];
  let bytes = 0;
  const walk = (directory: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (skipped.has(entry.name)) continue;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) {
        walk(path);
        continue;
      }
      if (!entry.isFile() && !entry.isSymbolicLink()) continue;
      const content = entry.isSymbolicLink() ? `link ${readlinkSync(path)}` : readFileSync(path);
      bytes += content.length;
      if (lines.length >= maxFiles || bytes > maxBytes) {
        throw new Error(
          `${folder} has more than ${maxFiles} files or ${maxBytes / 1024 ** 2} MB: give the plugin a folder of its own`,
        );
      }
      const digest = digestOf(content);
      files.set(path, digest);
      lines.push(`${relative(folder, path).split(sep).join('/')}\0${digest}\n`);
    }
  };
  walk(folder);
  const hash = createHash('sha512').update(lines.sort().join(''));
  return { folder, integrity: `sha512-${hash.digest('base64')}`, files };
}
