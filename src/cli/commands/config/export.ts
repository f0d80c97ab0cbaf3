import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import type { ExportOptions } from '../../config/config-target.ts';
import { withTarget } from '../../config/find-target.ts';

/** `config export [file]`: the whole config as a document, on standard output or in a file. */
export async function exportConfig(context: CommandContext): Promise<number> {
  const file = context.arguments.positionals[1];
  const text = await withTarget(context, (target) => target.export(exportOptions(context)));
  if (file === undefined || file === '-') context.out(text.trimEnd());
  else writeFile(resolve(context.cwd, file), file, text, 'w');
  return 0;
}

function exportOptions({ arguments: { options } }: CommandContext): ExportOptions {
  const { style = 'kong', format = 'yaml' } = options;
  if (style !== 'kong' && style !== 'deck') throw new CliError('--style must be kong or deck');
  if (format !== 'yaml' && format !== 'json') throw new CliError('--format must be yaml or json');
  return { style, format };
}

/** The document contains secrets, so only the user can read the file. */
export function writeFile(path: string, shown: string, text: string, flag: 'w' | 'wx'): void {
  try {
    writeFileSync(path, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600, flag });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw new CliError(`${shown} exists`);
    throw new CliError(`cannot write ${shown}: ${error instanceof Error ? error.message : error}`);
  }
}
