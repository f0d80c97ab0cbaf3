import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { checkDocument } from '../../config/check-document.ts';
import { InvalidDocument } from '../../config/config-target.ts';
import { problemText, readFiles } from '../../config/document-arguments.ts';

/** `config check <file>...`: checks a document on its own, without a node. */
export async function check(context: CommandContext): Promise<number> {
  const read = await readFiles(context, 'check <file>...');
  const { problems, entities } = await checkDocument(context, read.document);
  if (context.arguments.options['json'] === true) {
    context.out(JSON.stringify({ valid: problems.length === 0, entities, problems }));
    return problems.length === 0 ? 0 : 1;
  }
  if (problems.length > 0) {
    context.err(problemText(new InvalidDocument(problems), read));
    throw new CliError(
      `the document is not valid (${problems.length} ${problems.length === 1 ? 'problem' : 'problems'})`,
    );
  }
  context.out(`the document is valid (${entities} ${entities === 1 ? 'entity' : 'entities'})`);
  return 0;
}
