import { createRequire } from 'node:module';

/**
 * Loads a module synchronously, on first use: for a schema check that needs a heavy library, which would otherwise slow
 * down every start. `here`: `import.meta.url`; `name`: the relative path as in an import, `./problems.ts`.
 */
export function loadNow<T>(here: string, name: string): T {
  return createRequire(here)(name) as T;
}
