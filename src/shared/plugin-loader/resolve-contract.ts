import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

type Manifest = { readonly name: string; readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>> };

const packageFolder = new URL('../../../', import.meta.url);

let registered = false;

/**
 * Resolves `sluicegate/plugin-sdk`, `sluicegate/plugin-kit/*` and `sluicegate/plugin-testing` to the running copy, in
 * this thread. Plugins then load from any folder, even where Node would find no package or another version.
 */
export function resolveContractImports(): void {
  if (registered) return;
  registered = true;
  const modules = contractModules();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = modules.get(specifier);
      return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true };
    },
  });
}

function contractModules(): ReadonlyMap<string, string> {
  const { name, exports }: Manifest = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8'));
  const condition = import.meta.url.endsWith('.ts') ? 'sluicegate-source' : 'default';
  return new Map(
    Object.entries(exports).map(([subpath, files]) => [
      name + subpath.slice(1),
      new URL(files[condition] ?? '', packageFolder).href,
    ]),
  );
}
