const moduleName = /(['"])(\.{1,2}\/[^'"\n]+\.ts)\1/g;
/** Examples in comments name modules of their readers. */
const commentLine = /^[ \t]*(?:\/\/|\/\*|\*[ /]).*$/gm;

/**
 * The relative names of TypeScript files in a module: imports, and what `new URL('./worker.ts', import.meta.url)` and
 * `loadNow` name.
 */
export function relativeModules(text: string): readonly string[] {
  return [...text.replace(commentLine, '').matchAll(moduleName)].map(([, , name = '']) => name);
}

/** The same text with `.js` in every relative name: TypeScript rewrites imports of JavaScript files only. */
export function withJavaScriptNames(text: string): string {
  return text.replace(moduleName, (whole) => `${whole.slice(0, -4)}.js${whole.slice(-1)}`);
}
