import { dirname, posix } from 'node:path';
import { relativeModules } from '../../../src/cli/plugin/module-names.ts';

/** The modules that the entries need, themselves included, sorted. `read` gives the text of a module. */
export function reachableModules(entries: readonly string[], read: (path: string) => string): readonly string[] {
  const found = new Set(entries);
  for (const path of found) {
    for (const name of relativeModules(read(path))) found.add(posix.join(dirname(path), name));
  }
  return [...found].sort();
}
