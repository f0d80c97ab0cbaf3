import { readFileSync } from 'node:fs';

/** What is wrong with a plugin. */
export interface Finding {
  /** With a warning alone, the command succeeds. */
  readonly level: 'error' | 'warning';
  /** Absolute path, with `:line:column` where it is known. */
  readonly place: string;
  readonly message: string;
}

/**
 * The place of a property in the first of the files that has it: `file:line:column`. The first file alone if none has it.
 */
export function placeOfProperty(files: readonly string[], name: string): string {
  const property = new RegExp(`^(?:.*[\\s{,(])?(['"]?)(${name.replaceAll(/\W/g, '\\$&')})\\1\\s*[:(]`);
  for (const file of files) {
    for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
      const found = property.exec(line);
      if (found !== null && !/^\s*(?:\/\/|\*)/.test(line))
        return `${file}:${at + 1}:${line.indexOf(name, found[0].lastIndexOf(name)) + 1}`;
    }
  }
  return files[0] ?? '';
}
