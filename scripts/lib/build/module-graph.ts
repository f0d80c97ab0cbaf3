import { dirname, posix } from 'node:path';

const moduleName = /(['"])(\.{1,2}\/[^'"\n]+\.ts)\1/g;
/** Examples in comments name modules of their readers. */
const commentLine = /^[ \t]*(?:\/\/|\/\*|\*[ /]).*$/gm;

/**
 * The modules that the entries need, themselves included, sorted. Every relative name of a TypeScript file counts:
 * imports, and what `new URL('./worker.ts', import.meta.url)` and `loadNow` name. `read` gives the text of a module.
 */
export function reachableModules(entries: readonly string[], read: (path: string) => string): readonly string[] {
  const found = new Set(entries);
  for (const path of found) {
    for (const [, , name = ''] of read(path).replace(commentLine, '').matchAll(moduleName))
      found.add(posix.join(dirname(path), name));
  }
  return [...found].sort();
}

/** The same text with `.js` in every relative name: TypeScript rewrites imports of JavaScript files only. */
export function withJavaScriptNames(text: string): string {
  return text.replace(moduleName, (whole) => `${whole.slice(0, -4)}.js${whole.slice(-1)}`);
}
