import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { withTarget } from '../../config/find-target.ts';
import { countsLine } from '../../config/print-plan.ts';

/** `config rollback <version>`: makes the config what it was after a version. */
export async function rollback(context: CommandContext): Promise<number> {
  const text = context.arguments.positionals[1];
  if (text === undefined) throw new CliError('usage: sluicegate config rollback <version> (see config history)');
  if (!/^\d{1,15}$/.test(text)) throw new CliError(`not a version: '${text}' (see sluicegate config history)`);
  const outcome = await withTarget(context, (target) => target.rollback(Number(text)));
  if (context.arguments.options['json'] === true) {
    context.out(JSON.stringify(outcome));
    return 0;
  }
  context.out(countsLine(outcome, 'did'));
  context.out(
    outcome.version === null ? `the config was already that of version ${text}` : `version ${outcome.version}`,
  );
  return 0;
}
