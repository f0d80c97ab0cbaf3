import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { awaitOutcome, readOutcome } from '../node/outcome-file.ts';
import { findRunningNode, send } from '../node/running-node.ts';
import { settingsOf } from '../settings-of.ts';

/** Milliseconds in addition to `upgrade_timeout`: to end a new process that is not ready. */
export const grace = 15_000;

export async function upgrade(context: CommandContext): Promise<number> {
  const node = findRunningNode(context);
  const before = readOutcome(node.prefix, 'upgrade');
  send(node, 'SIGUSR2');
  const { upgradeTimeout } = settingsOf(context).settings;
  const { ok, lines } = await awaitOutcome(node.prefix, 'upgrade', before, node, upgradeTimeout + grace);
  if (!ok) throw new CliError(lines.join('\n'));
  for (const line of lines) context.out(line);
  return 0;
}
