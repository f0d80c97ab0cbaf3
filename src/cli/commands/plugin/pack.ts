import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { checkManifest } from '../../plugin/check-manifest.ts';
import { checkAll } from '../../plugin/check-plugin.ts';
import { compilePlugin } from '../../plugin/compile-plugin.ts';
import type { Finding } from '../../plugin/finding.ts';
import { loadOwnPlugin } from '../../plugin/load-plugin.ts';
import { npmPack } from '../../plugin/npm-pack.ts';
import { findPlugin, shown } from '../../plugin/plugin-folder.ts';
import { findingLine } from './check.ts';

/**
 * `plugin pack [folder]`: checks the plugin, compiles it to `dist/`, checks what its `package.json` promises, and makes the
 * tarball that `npm publish` takes.
 */
export async function packPlugin({
  arguments: { positionals, options },
  cwd,
  out,
  err,
}: CommandContext): Promise<number> {
  const [, target, ...more] = positionals;
  if (more.length > 0) throw new CliError('usage: sluicegate plugin pack [folder]');
  const own = findPlugin(cwd, target);
  const { folder, entry, manifest } = own;
  if (manifest === null)
    throw new CliError(`${join(folder, 'package.json')} does not exist: npm cannot pack the folder`);
  const failIf = (findings: readonly Finding[]): void => {
    for (const finding of findings) err(findingLine(cwd, finding));
    if (findings.some(({ level }) => level === 'error')) throw new CliError('nothing is packed');
  };
  const loaded = await loadOwnPlugin(own);
  failIf((await checkAll(own, loaded, options['no-types'] !== true)).findings);
  const { modules, hasDeclarations, findings } = await compilePlugin(folder, entry);
  failIf([...findings, ...checkManifest(folder, manifest, loaded.plugin)]);
  out(`compiled to dist/: ${modules.join(', ')}${hasDeclarations ? ', with declarations' : ''}`);
  if (!hasDeclarations) out('without declarations: TypeScript is not installed (npm install --save-dev typescript)');
  const destination = resolve(cwd, String(options['destination'] ?? folder));
  mkdirSync(destination, { recursive: true });
  const { filename, size, files } = await npmPack(folder, destination);
  const tarball = shown(cwd, join(destination, filename));
  out(`${tarball}: ${files.length} files, ${Math.ceil(size / 1024)} kB`);
  out(`Publish it: npm publish ${tarball}`);
  return 0;
}
