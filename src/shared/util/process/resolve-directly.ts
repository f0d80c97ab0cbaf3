import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const packageFolder = new URL('../../../../', import.meta.url).href;
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
  const folders = directFolders();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL, conditions } = context;
      const isRelative = specifier.startsWith('./') || specifier.startsWith('../');
      if (
        isRelative &&
        parentURL !== undefined &&
        (specifier.endsWith('.ts') || specifier.endsWith('.js')) &&
        folders.some((folder) => parentURL.startsWith(folder)) &&
        conditions.includes('import')
      ) {
        return { url: new URL(specifier, parentURL).href, shortCircuit: true };
      }
      return nextResolve(specifier, context);
    },
  });
}

/** The gateway's own modules, and its dependencies where npm installs them: in the folder of the package or next to it. */
function directFolders(): readonly string[] {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const within = (path: string): string => new URL(path, packageFolder).href;
  return [
    within('src/'),
    within('dist/'),
    ...Object.keys(dependencies).flatMap((name) => [within(`node_modules/${name}/`), within(`../${name}/`)]),
  ];
}
