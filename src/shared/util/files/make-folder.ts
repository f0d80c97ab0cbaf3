import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory for its owner alone, with its parents. Node's own recursive `mkdirSync` never returns where the
 * system cannot create a directory, as under `/proc`; this throws.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.push(folder);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      // Another process may have created it just now.
      if (!existsSync(folder)) throw error;
    }
  }
}
