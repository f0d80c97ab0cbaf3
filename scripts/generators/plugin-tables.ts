import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PluginSchema } from '../../src/plugin-sdk/define-plugin.ts';
import { exportMarkdownTable } from '../../src/shared/schema/export/export-markdown.ts';
import { replaceGenerated } from '../../src/shared/schema/export/generated-block.ts';
import { finishedPlugins, root } from '../lib/files.ts';
import type { GeneratedFile, Generator } from '../lib/generated-file.ts';

/** The table of fields in the README of each plugin. A missing README is reported by the check of the folders. */
export const generatePluginTables: Generator = async () => {
  const files = await Promise.all(finishedPlugins().map(readmeOf));
  return files.filter((file) => file !== null);
};

async function readmeOf(name: string): Promise<GeneratedFile | null> {
  const path = `src/plugins/${name}/README.md`;
  if (!existsSync(join(root, path))) return null;
  const { config }: PluginSchema = await import(join(root, 'src/plugins', name, 'schema.ts'));
  const content = replaceGenerated(readFileSync(join(root, path), 'utf8'), exportMarkdownTable(config));
  return { path, content };
}
