import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { neighbours } from '../../plugin/check-definition.ts';
import { checkAll } from '../../plugin/check-plugin.ts';
import type { Finding } from '../../plugin/finding.ts';
import { loadOwnPlugin } from '../../plugin/load-plugin.ts';
import { findPlugin, shown } from '../../plugin/plugin-folder.ts';

/** `plugin check [folder]`: loads the plugin and prints what is wrong with it. Fails if there is an error. */
export async function checkPlugin({
  arguments: { positionals, options },
  cwd,
  out,
  err,
}: CommandContext): Promise<number> {
  const [, target, ...more] = positionals;
  if (more.length > 0) throw new CliError('usage: sluicegate plugin check [folder]');
  const own = findPlugin(cwd, target);
  const loaded = await loadOwnPlugin(own);
  const { findings, typesSkipped } = await checkAll(own, loaded, options['no-types'] !== true);
  for (const finding of findings) err(findingLine(cwd, finding));
  const errors = findings.filter(({ level }) => level === 'error').length;
  const { plugin, schema } = loaded;
  const count = schema.config.fields.size;
  out(
    `${plugin.name} ${plugin.version}: ${count} ${count === 1 ? 'field' : 'fields'}; runs ${neighbours(plugin.priority)}`,
  );
  out(typesSkipped === null ? 'types: checked' : `types: not checked (${typesSkipped})`);
  out(errors === 0 ? 'ok' : `${errors} ${errors === 1 ? 'error' : 'errors'}`);
  return errors === 0 ? 0 : 1;
}

/** `index.ts:3:7: error: ...`, which terminals and editors open. */
export function findingLine(cwd: string, { level, place, message }: Finding): string {
  const [, file = place, position = ''] = /^(.*?)((?::\d+){0,2})$/.exec(place) ?? [];
  return `${shown(cwd, file)}${position}: ${level}: ${message}`;
}
