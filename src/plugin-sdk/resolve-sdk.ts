import { registerHooks } from 'node:module';

const modules: ReadonlyMap<string, string> = new Map(
  [
    ['', './index.ts'],
    ['/schema', './schema.ts'],
    ['/testing', './testing.ts'],
    ['/xml', './xml.ts'],
  ].map(([path = '', file = '']) => [`sluicegate/plugin-sdk${path}`, new URL(file, import.meta.url).href]),
);

let registered = false;

/**
 * Resolves `sluicegate/plugin-sdk` and its subpaths to the running copy, in this thread. Plugins then load from any
 * folder, even where Node would find no package or one of another version.
 */
export function resolveSdkImports(): void {
  if (registered) return;
  registered = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = modules.get(specifier);
      return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true };
    },
  });
}
