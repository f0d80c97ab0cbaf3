import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportMarkdownTable } from '../../shared/schema/export/export-markdown.ts';
import { replaceGenerated } from '../../shared/schema/export/generated-block.ts';
import { checkDefinition } from './check-definition.ts';
import type { Finding } from './finding.ts';
import type { LoadedPlugin } from './load-plugin.ts';
import type { PluginFolder } from './plugin-folder.ts';
import { findCompiler, runCompiler } from './typescript.ts';

export interface PluginCheck {
  readonly findings: readonly Finding[];
  /** Why the types were not checked, or null. */
  readonly typesSkipped: string | null;
}

/** Everything that can be said of a plugin without a request. */
export async function checkAll(own: PluginFolder, loaded: LoadedPlugin, withTypes: boolean): Promise<PluginCheck> {
  const findings = [...checkDefinition(own, loaded), ...checkFiles(own, loaded)];
  const skipped = withTypes ? whyNoTypes(own.folder) : '--no-types';
  const compiler = skipped === null ? findCompiler(own.folder) : null;
  if (compiler !== null) findings.push(...(await runCompiler(compiler, own.folder, ['--noEmit', '--project', '.'])));
  return { findings, typesSkipped: skipped };
}

function whyNoTypes(folder: string): string | null {
  if (!existsSync(join(folder, 'tsconfig.json'))) return 'there is no tsconfig.json';
  return findCompiler(folder) === null ? 'TypeScript is not installed: npm install --save-dev typescript' : null;
}

function checkFiles({ folder }: PluginFolder, { schema }: LoadedPlugin): readonly Finding[] {
  const found: Finding[] = [];
  const warn = (place: string, message: string): void => {
    found.push({ level: 'warning', place, message });
  };
  const readme = join(folder, 'README.md');
  if (!existsSync(readme)) warn(readme, 'there is no README: sluicegate plugin docs makes one');
  else if (!isDocumented(readFileSync(readme, 'utf8'), exportMarkdownTable(schema.config)))
    warn(readme, 'the table of fields is out of date: sluicegate plugin docs');
  const [test] = globSync(['*.test.{ts,js,mjs}', '{src,test,tests}/**/*.test.{ts,js,mjs}'], { cwd: folder });
  if (test === undefined) warn(folder, 'there is no test: a file <name>.test.ts');
  return found;
}

/** Whether the text has the table as `plugin docs` writes it. */
export function isDocumented(text: string, table: string): boolean {
  return replaceGenerated(text, table) === text;
}
