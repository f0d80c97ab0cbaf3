import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { loadProblem } from '../../shared/plugin-loader/load-problem.ts';
import { CliError } from '../cli-error.ts';
import type { Finding } from './finding.ts';
import { relativeModules, withJavaScriptNames } from './module-names.ts';
import { findCompiler, runCompiler } from './typescript.ts';

export interface CompiledPlugin {
  /** Modules that were compiled, relative to the folder. */
  readonly modules: readonly string[];
  /** Errors of the declarations; the code is there nevertheless. */
  readonly findings: readonly Finding[];
  /** False: TypeScript is not installed, so there are no declarations. */
  readonly hasDeclarations: boolean;
}

/**
 * Compiles the modules that `entry` reaches to `dist/` of the folder: JavaScript, and declarations if the folder has
 * TypeScript. Types are replaced by blanks, so every line and column stays where it is.
 *
 * @throws CliError A module is outside of the folder, missing, or has syntax that needs more than to leave out types.
 */
export async function compilePlugin(folder: string, entry: string): Promise<CompiledPlugin> {
  const modules = reachableModules(folder, entry);
  const root = dirname(entry);
  const target = join(folder, 'dist');
  rmSync(target, { recursive: true, force: true });
  for (const module of modules) {
    const path = join(target, relative(root, module)).replace(/\.ts$/, '.js');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, withJavaScriptNames(stripped(module)));
  }
  const compiler = findCompiler(folder);
  const findings = compiler === null ? [] : await writeDeclarations(compiler, folder, root, modules);
  const names = modules.map((module) => relative(folder, module));
  return { modules: names, findings, hasDeclarations: compiler !== null };
}

function reachableModules(folder: string, entry: string): readonly string[] {
  const found = new Set([entry]);
  for (const module of found) {
    for (const name of relativeModules(readFileSync(module, 'utf8'))) {
      const path = join(dirname(module), name);
      if (relative(dirname(entry), path).startsWith('..'))
        throw new CliError(
          `${module} imports ${name}: the package has what is next to ${relative(folder, entry)} only`,
        );
      if (!existsSync(path)) throw new CliError(`${module} imports ${name}, which does not exist`);
      found.add(path);
    }
  }
  return [...found].sort();
}

function stripped(module: string): string {
  const text = readFileSync(module, 'utf8');
  if (!module.endsWith('.ts')) return text;
  try {
    return stripTypeScriptTypes(text, { sourceUrl: '' }).replace(/\n?\/\/# sourceURL=\s*$/, '');
  } catch (error) {
    throw new CliError(`cannot compile: ${loadProblem(error, module)}`, { cause: error });
  }
}

/** With the options of the folder, and next to them: types are resolved from where the options are. */
async function writeDeclarations(
  compiler: string,
  folder: string,
  root: string,
  modules: readonly string[],
): Promise<readonly Finding[]> {
  const options = join(folder, `tsconfig.pack-${process.pid}.json`);
  const base = existsSync(join(folder, 'tsconfig.json'))
    ? { extends: './tsconfig.json' }
    : { compilerOptions: { target: 'es2024', module: 'nodenext', allowImportingTsExtensions: true } };
  const compilerOptions = {
    ...base.compilerOptions,
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, allowJs: true },
    ...{ outDir: join(folder, 'dist'), rootDir: root, incremental: false, composite: false },
  };
  try {
    writeFileSync(options, JSON.stringify({ ...base, compilerOptions, include: [], files: modules }));
    const findings = await runCompiler(compiler, folder, ['--project', options]);
    for (const module of modules) {
      const path = join(folder, 'dist', relative(root, module)).replace(/\.[jt]s$/, '.d.ts');
      if (existsSync(path)) writeFileSync(path, withJavaScriptNames(readFileSync(path, 'utf8')));
    }
    return findings;
  } finally {
    rmSync(options, { force: true });
  }
}
