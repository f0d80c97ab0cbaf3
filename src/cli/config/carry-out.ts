import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { type ApplyOutcome, type ConfigTarget, InvalidDocument } from './config-target.ts';
import { planOptionsOf, problemText } from './document-arguments.ts';
import type { ReadDocument } from './read-documents.ts';

/** Applies or compares what was read. The problems of an invalid document are printed, a line for each. */
export async function carryOut(
  context: CommandContext,
  target: ConfigTarget,
  read: ReadDocument,
  dryRun: boolean,
): Promise<ApplyOutcome> {
  try {
    return await target.apply(read.document, planOptionsOf(context, read), dryRun);
  } catch (error) {
    if (!(error instanceof InvalidDocument)) throw error;
    context.err(problemText(error, read));
    throw new CliError('the document is not valid; nothing was changed');
  }
}
