import type { CommandContext } from '../../command.ts';
import { carryOut } from '../../config/carry-out.ts';
import { readFiles } from '../../config/document-arguments.ts';
import { withTarget } from '../../config/find-target.ts';
import { planLines } from '../../config/print-plan.ts';

/** `config import <file>...`: adds the entities of a document, or replaces them; others stay. */
export async function importConfig(context: CommandContext): Promise<number> {
  const read = await readFiles(context, 'import <file>...');
  const outcome = await withTarget(merging(context), (target) => carryOut(merging(context), target, read, false));
  if (context.arguments.options['json'] === true) context.out(JSON.stringify(outcome));
  else {
    for (const line of planLines(outcome, 'did')) context.out(line);
    if (outcome.version !== null) context.out(`version ${outcome.version}`);
  }
  return 0;
}

/** The same command with `--merge`. */
export function merging(context: CommandContext): CommandContext {
  const options = { ...context.arguments.options, merge: true as const };
  return { ...context, arguments: { ...context.arguments, options } };
}
