// Every plugin is one folder with the same files, named as it is, and every field of its configuration is described.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PluginModule, PluginSchema } from '../src/plugin-sdk/define-plugin.ts';
import { undescribedFields } from './lib/field-walk.ts';
import { pluginNames, root } from './lib/files.ts';
import { finish } from './lib/report.ts';

const names = pluginNames();
const problems = await Promise.all(names.map(problemsOf));
finish(`${names.length} plugin folders are complete`, problems.flat());

async function problemsOf(name: string): Promise<readonly string[]> {
  const folder = `src/plugins/${name}`;
  const wanted = ['index.ts', 'schema.ts', 'handler.ts', 'README.md', `${name}.test.ts`];
  const missing = wanted
    .filter((file) => !existsSync(join(root, folder, file)))
    .map((file) => `${folder}: ${file} is missing`);
  if (!/^[a-z][a-z0-9-]*$/.test(name)) missing.push(`${folder}: the name must be lower-case words with hyphens`);
  if (missing.some((line) => line.includes('index.ts') || line.includes('schema.ts'))) return missing;
  const plugin: PluginModule = await import(join(root, folder, 'index.ts'));
  const { config }: PluginSchema = await import(join(root, folder, 'schema.ts'));
  if (plugin.default.name !== name) missing.push(`${folder}: index.ts names it '${plugin.default.name}'`);
  return [...missing, ...undescribedFields(config).map((field) => `${folder}: config.${field} has no description`)];
}
