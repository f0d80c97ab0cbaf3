import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import { type Finding, placeOfProperty } from './finding.ts';
import type { PluginManifest } from './plugin-folder.ts';

/**
 * What would keep a package from working where it is installed. `dist/` of the folder is there already.
 */
export function checkManifest(folder: string, manifest: PluginManifest, plugin: Plugin): readonly Finding[] {
  const file = join(folder, 'package.json');
  const found: Finding[] = [];
  const report = (level: Finding['level'], property: string, message: string): void => {
    found.push({ level, place: placeOfProperty([file], property), message });
  };
  if (manifest.name === undefined) report('error', 'name', 'name is missing');
  if (manifest.version !== plugin.version)
    report('error', 'version', `version is ${String(manifest.version)}, and that of definePlugin ${plugin.version}`);
  if (manifest.type !== 'module')
    report('error', 'type', 'type must be "module": the compiled code consists of modules');
  for (const problem of exportProblems(folder, manifest.exports)) report('error', 'exports', problem);
  if (!Array.isArray(manifest.files) || !manifest.files.some((name) => /^(?:\.\/)?dist(?:\/|$)/.test(String(name))))
    report('error', 'files', 'files must name "dist", where the compiled code is');
  if (!isObject(manifest.peerDependencies) || !Object.hasOwn(manifest.peerDependencies, 'sluicegate'))
    report(
      'error',
      'peerDependencies',
      'peerDependencies must name sluicegate with the versions that the plugin works with',
    );
  if (isObject(manifest.dependencies) && Object.hasOwn(manifest.dependencies, 'sluicegate'))
    report('error', 'dependencies', 'dependencies must not name sluicegate: a second copy would be installed');
  if (manifest.private === true) report('warning', 'private', 'npm publish refuses a package that is private');
  return found;
}

/** The gateway imports the package by its name. */
function exportProblems(folder: string, exports: unknown): readonly string[] {
  const main = isObject(exports) && Object.hasOwn(exports, '.') ? Reflect.get(exports, '.') : exports;
  const files = typeof main === 'string' ? { default: main } : main;
  if (!isObject(files))
    return [
      'exports must name the compiled module for ".": "default" is ./dist/index.js, and "types" its declarations',
    ];
  const problems: string[] = [];
  const code = [Reflect.get(files, 'default'), Reflect.get(files, 'import')].find((path) => path !== undefined);
  if (code === undefined) problems.push('exports has no "default" for "."');
  for (const path of [code, Reflect.get(files, 'types')]) {
    if (path === undefined) continue;
    if (!/^\.\/dist\//.test(String(path))) problems.push(`exports names ${String(path)}, which is not in ./dist/`);
    else if (!existsSync(join(folder, String(path))))
      problems.push(`exports names ${String(path)}, which does not exist`);
  }
  return problems;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
