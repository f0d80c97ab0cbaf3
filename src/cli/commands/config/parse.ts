import { parseErrorText } from '../../../control/declarative/problems/parse-error-text.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { checkDocument } from '../../config/check-document.ts';
import { readFiles } from '../../config/document-arguments.ts';

/** `config parse <file>`: Kong's name for `config check`, with Kong's texts. */
export async function parse(context: CommandContext): Promise<number> {
  const { document } = await readFiles(context, 'parse <file>');
  const { declared } = await checkDocument(context, document);
  if (declared.length > 0) throw new CliError(parseErrorText(declared));
  context.out('parse successful');
  return 0;
}
