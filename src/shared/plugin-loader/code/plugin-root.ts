import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

const packageFolder = new URL('../../../../', import.meta.url).href;
const own = ['src/', 'dist/', 'node_modules/'].map((folder) => packageFolder + folder);
const packages = '/node_modules/';

/** URL of the folder whose modules belong to a plugin: that of its first module, or that of its npm package. */
export function rootOf(file: string): string {
  const within = file.split(sep).join('/');
  const at = within.lastIndexOf(packages);
  if (at < 0) return folderUrl(dirname(file));
  const [scope = '', name = ''] = within.slice(at + packages.length).split('/');
  const folder = within.slice(0, at + packages.length);
  return folderUrl(join(folder, scope.startsWith('@') ? `${scope}/${name}` : scope));
}

function folderUrl(folder: string): string {
  return `${pathToFileURL(folder).href}/`;
}

/**
 * Whether a module that a plugin imports is part of it: it is below the plugin's root, or imported by a path. Modules of other packages
 * and of the gateway are not: they are loaded once.
 */
export function belongs(url: string, root: string, specifier: string): boolean {
  if (!url.startsWith('file:')) return false;
  if (url.startsWith(root)) return !url.slice(root.length).includes('node_modules/');
  return (
    /^(?:\.|\/|file:|#)/.test(specifier) && !url.includes(packages) && !own.some((folder) => url.startsWith(folder))
  );
}
