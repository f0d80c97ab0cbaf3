import { globSync, readFileSync, rmSync } from 'node:fs';
import { join, posix } from 'node:path';

const relativeName = /(['"])(\.{1,2}\/[^'"\n]+)\.js\1/g;

/** Removes the declarations of a build that no entry needs. The compiler writes one for each module that it has read. */
export function pruneDeclarations(target: string, entries: readonly string[]): void {
  const all = globSync('**/*.d.ts', { cwd: target }).map((file) => file.replaceAll('\\', '/'));
  const needed = neededDeclarations(entries, new Set(all), (file) => readFileSync(join(target, file), 'utf8'));
  for (const file of all) if (!needed.has(file)) rmSync(join(target, file));
}

/** The entries, and everything that they import. `known`: the files that exist; examples in comments name others. */
export function neededDeclarations(
  entries: readonly string[],
  known: ReadonlySet<string>,
  read: (file: string) => string,
): ReadonlySet<string> {
  const found = new Set(entries);
  for (const file of found) {
    for (const [, , name = ''] of read(file).matchAll(relativeName)) {
      const path = `${posix.join(posix.dirname(file), name)}.d.ts`;
      if (known.has(path)) found.add(path);
    }
  }
  return found;
}
