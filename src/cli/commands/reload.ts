import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { awaitOutcome, readOutcome } from '../node/outcome-file.ts';
import { findRunningNode, send } from '../node/running-node.ts';
import { settingsOf } from '../settings-of.ts';
import { grace } from './upgrade.ts';

export async function reload(context: CommandContext): Promise<number> {
  const node = findRunningNode(context);
  const before = readOutcome(node.prefix, 'reload');
  send(node, 'SIGHUP');
  // Some settings are applied by a new process.
  const { upgradeTimeout } = settingsOf(context).settings;
  const { ok, lines } = await awaitOutcome(node.prefix, 'reload', before, node, upgradeTimeout + grace);
  if (!ok) throw new CliError(`the reload failed: ${lines.join('\n')}`);
  context.out('Sluicegate reloaded');
  for (const line of lines) context.out(line);
  return 0;
}
