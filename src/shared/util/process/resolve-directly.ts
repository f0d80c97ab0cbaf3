import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const packageFolder = new URL('../../../../', import.meta.url).href;
const nothing = new URL('./nothing.ts', import.meta.url).href;

/**
 * Modules of zod that export its messages in all languages, 64 modules. An empty module is loaded instead: zod imports the English ones
 * by their own name.
 */
const localesOf = ['zod/v4/core/index.js', 'zod/v4/classic/external.js'];

let registered = false;

/**
 * Resolves imports of relative names (`./run.ts`) in the gateway and its dependencies to the file of that name, in this thread. Node
 * checks for each of them whether it exists, where its symbolic links lead, and what the package.json files on its path contain:
 * two thirds of the time of a start, and 20 MB of garbage in each thread. Bare names and the modules of users' plugins are
 * resolved by Node. Call it before other modules are imported.
 */
export function resolveDirectly(): void {
  if (registered) return;
  registered = true;
  const { own, dependencies } = directFolders();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL, conditions } = context;
      const isRelative = specifier.startsWith('./') || specifier.startsWith('../');
      const isModule = specifier.endsWith('.ts') || specifier.endsWith('.js');
      if (!isRelative || !isModule || parentURL === undefined || !conditions.includes('import')) {
        return nextResolve(specifier, context);
      }
      const isOwn = own.some((folder) => parentURL.startsWith(folder));
      if (!isOwn && !dependencies.some((folder) => parentURL.startsWith(folder)))
        return nextResolve(specifier, context);
      if (!isOwn && isLocales(specifier, parentURL))
        return { url: nothing, format: formatOf(nothing), shortCircuit: true };
      const url = new URL(specifier, parentURL).href;
      // Those of a dependency may be CommonJS.
      return isOwn ? { url, format: formatOf(url), shortCircuit: true } : { url, shortCircuit: true };
    },
  });
}

function isLocales(specifier: string, parentURL: string): boolean {
  return specifier === '../locales/index.js' && localesOf.some((module) => parentURL.endsWith(module));
}

/** Saves Node the search for the package.json that says it. */
function formatOf(url: string): string {
  return url.endsWith('.ts') ? 'module-typescript' : 'module';
}

/** The gateway's own modules, and its dependencies where npm installs them: in the folder of the package or next to it. */
function directFolders(): { readonly own: readonly string[]; readonly dependencies: readonly string[] } {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const within = (path: string): string => new URL(path, packageFolder).href;
  return {
    own: [within('src/'), within('dist/')],
    dependencies: Object.keys(dependencies).flatMap((name) => [within(`node_modules/${name}/`), within(`../${name}/`)]),
  };
}
