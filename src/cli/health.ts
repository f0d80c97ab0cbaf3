import { CliError } from './cli-error.ts';
import type { CommandContext } from './command.ts';
import { runningPid } from './pid-file.ts';
import { settingsOf } from './settings-of.ts';

export async function health(context: CommandContext): Promise<number> {
  const { prefix } = settingsOf(context).settings;
  if (runningPid(prefix) === null) throw new CliError(`Sluicegate is not running at ${prefix}`);
  context.out('sluicegate..running');
  context.out('');
  context.out(`Sluicegate is healthy at ${prefix}`);
  return 0;
}
