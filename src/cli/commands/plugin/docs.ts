import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportMarkdownTable } from '../../../shared/schema/export/export-markdown.ts';
import { replaceGenerated } from '../../../shared/schema/export/generated-block.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { loadOwnPlugin } from '../../plugin/load-plugin.ts';
import { findPlugin, shown } from '../../plugin/plugin-folder.ts';

/** `plugin docs [folder]`: writes the table of fields into the README, between its marks or at its end. */
export async function documentPlugin({
  arguments: { positionals, options },
  cwd,
  out,
}: CommandContext): Promise<number> {
  const [, target, ...more] = positionals;
  if (more.length > 0) throw new CliError('usage: sluicegate plugin docs [folder] [--check]');
  const own = findPlugin(cwd, target);
  const { plugin, schema } = await loadOwnPlugin(own);
  const path = join(own.folder, 'README.md');
  const before = existsSync(path) ? readFileSync(path, 'utf8') : `# ${plugin.name}\n\n## Configuration\n`;
  const after = replaceGenerated(before, exportMarkdownTable(schema.config));
  const isCurrent = existsSync(path) && after === before;
  if (options['check'] === true && !isCurrent)
    throw new CliError(`${shown(cwd, path)} is out of date: run sluicegate plugin docs`);
  if (!isCurrent) writeFileSync(path, after);
  out(`${shown(cwd, path)} ${isCurrent ? 'is up to date' : 'is written'}`);
  return 0;
}
