// Writes the package's compiled JavaScript, and the declarations of the plugin SDK, to dist/, and the dashboard to dashboard/dist/. Only the package needs it:
// Node does not strip types below node_modules.
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../src/version.ts';
import { compile, emitted } from './lib/build/compile.ts';
import { reachableModules } from './lib/build/module-graph.ts';
import { pruneDeclarations } from './lib/build/prune-declarations.ts';
import { replaceZod } from './lib/build/zod-declarations.ts';
import { root } from './lib/files.ts';
import { print } from './lib/steps.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
};
if (manifest.version !== version) {
  throw new Error(`package.json has version ${manifest.version}, src/version.ts ${version}`);
}

const contract = Object.values(manifest.exports).map((paths) => (paths['sluicegate-source'] ?? '').replace('./', ''));
const modules = reachableModules(['src/main.ts', ...contract], (path) => readFileSync(join(root, path), 'utf8'));
// Built under another name first: a build that fails leaves no half of a package behind.
const unfinished = join(root, `dist.${process.pid}`);
const target = join(root, 'dist');
try {
  compile(modules, unfinished, {});
  compile(contract, unfinished, { declaration: true, emitDeclarationOnly: true, stripInternal: true });
  const entries = contract.map((file) => file.replace(/^src\/(.*)\.ts$/, '$1.d.ts'));
  replaceZod(unfinished, emitted(unfinished));
  pruneDeclarations(unfinished, entries);
  for (const file of entries) referToNodeTypes(join(unfinished, file));
  // The dashboard shows them, through the Admin API.
  for (const readme of globSync('src/plugins/*/README.md', { cwd: root })) {
    copyFileSync(join(root, readme), join(unfinished, readme.replace(/^src\W/, '')));
  }
  rmSync(target, { recursive: true, force: true });
  renameSync(unfinished, target);
} finally {
  rmSync(unfinished, { recursive: true, force: true });
}
/** A project loads no global types unless it asks for them, and the declarations name Node's. */
function referToNodeTypes(path: string): void {
  writeFileSync(path, `/// <reference types="node" />\n${readFileSync(path, 'utf8')}`);
}

// It takes its modules from development dependencies, which the package does not have.
execFileSync(process.execPath, [join(root, 'dashboard/build.ts'), '--if-changed'], { stdio: 'inherit' });
print(`built dist/: ${emitted(target).length} files`);
