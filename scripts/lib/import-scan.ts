/** One import as it is written. */
export interface Import {
  readonly specifier: string;
  /** True for `import('...')` and `process.getBuiltinModule('...')`, which run later and so make no circle. */
  readonly dynamic: boolean;
  /** True for `import type` and `export type`, which are gone when the program runs. */
  readonly typeOnly: boolean;
  /** True for `export * from`. */
  readonly everything: boolean;
}

const statement = /^[ \t]*(?:import|export)\b([^'"`;=]*?\bfrom)?\s*'([^'\n]+)'/gm;
const call = /\b(?:import|getBuiltinModule)\(\s*'([^'\n]+)'\s*\)/g;

const comment = /\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm;
const template = /`(?:\\[\s\S]|[^`\\])*`/g;

/** Finds the imports of a formatted TypeScript file by its text, which is enough for the law and a hundred times faster than a syntax tree. */
export function scanImports(source: string): readonly Import[] {
  const text = source.replace(comment, '').replace(template, '``');
  const written = [...text.matchAll(statement)].map(([whole, clause = '', specifier = '']) => {
    const everything = whole.trimStart().startsWith('export') && /^\s*(?:type\s+)?\*/.test(clause);
    return { specifier, dynamic: false, typeOnly: /^\s*type\b(?!\s*,|\s+from)/.test(clause), everything };
  });
  const called = [...text.matchAll(call)].map(([, specifier = '']) => ({
    specifier,
    dynamic: true,
    typeOnly: false,
    everything: false,
  }));
  return [...written, ...called];
}
