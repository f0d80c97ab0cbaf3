// Every plugin is one folder with the same files, named as it is, and every field of its configuration is described.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PluginModule, PluginSchema } from '../src/plugin-sdk/define-plugin.ts';
import { undescribedFields } from '../src/shared/schema/export/undescribed-fields.ts';
import { pluginNames, root } from './lib/files.ts';
import { misplacedParts } from './lib/plugin-parts.ts';
import { finish } from './lib/report.ts';

const names = pluginNames();
const problems = await Promise.all(names.map(problemsOf));
finish(`${names.length} plugin folders are complete`, problems.flat());

async function problemsOf(name: string): Promise<readonly string[]> {
  const folder = `src/plugins/${name}`;
  const isThere = (file: string): boolean => existsSync(join(root, folder, file));
  const wanted = ['index.ts', 'schema.ts', 'handler.ts', 'README.md', `${name}.test.ts`];
  const found = wanted.filter((file) => !isThere(file)).map((file) => `${folder}: ${file} is missing`);
  if (!/^[a-z][a-z0-9-]*$/.test(name)) found.push(`${folder}: the name must be lower-case words with hyphens`);
  if (found.some((line) => line.includes('index.ts') || line.includes('schema.ts'))) return found;
  const plugin: PluginModule = await import(join(root, folder, 'index.ts'));
  const { config }: PluginSchema = await import(join(root, folder, 'schema.ts'));
  if (plugin.default.name !== name) found.push(`${folder}: index.ts names it '${plugin.default.name}'`);
  const index = readFileSync(join(root, folder, 'index.ts'), 'utf8');
  found.push(...misplacedParts(index, isThere).map((problem) => `${folder}: ${problem}`));
  return [...found, ...undescribedFields(config).map((field) => `${folder}: config.${field} has no description`)];
}
