import { parseErrorText } from '../../../control/declarative/problems/parse-error-text.ts';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { carryOut } from '../../config/carry-out.ts';
import { checkDocument } from '../../config/check-document.ts';
import { readFiles } from '../../config/document-arguments.ts';
import { withTarget } from '../../config/find-target.ts';
import { merging } from './import.ts';

/** `config db_import <file>`: Kong's name for `config import`, with Kong's texts. */
export async function dbImport(context: CommandContext): Promise<number> {
  const read = await readFiles(context, 'db_import <file>');
  const { declared } = await checkDocument(context, read.document);
  if (declared.length > 0) throw new CliError(parseErrorText(declared));
  context.out('parse successful, beginning import');
  await withTarget(context, (target) => carryOut(merging(context), target, read, false));
  context.out('import successful');
  return 0;
}
