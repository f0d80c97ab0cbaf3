import type { CommandContext } from '../../command.ts';
import { carryOut } from '../../config/carry-out.ts';
import { readFiles } from '../../config/document-arguments.ts';
import { withTarget } from '../../config/find-target.ts';
import { planLines } from '../../config/print-plan.ts';

/** `config diff <file>...`: what `apply` would change. Exit code 2 when it would change something. */
export async function diff(context: CommandContext): Promise<number> {
  const read = await readFiles(context, 'diff <file>...');
  const outcome = await withTarget(context, (target) => carryOut(context, target, read, true));
  if (context.arguments.options['json'] === true) context.out(JSON.stringify(outcome));
  else for (const line of planLines(outcome, 'would')) context.out(line);
  return outcome.created + outcome.updated + outcome.deleted === 0 ? 0 : 2;
}
