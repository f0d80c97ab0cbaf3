import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '../../cli-error.ts';
import type { CommandContext } from '../../command.ts';
import { withTarget } from '../../config/find-target.ts';
import { writeFile } from './export.ts';

/** `config db_export [file]`: writes the config in Kong's format. An existing file is never overwritten. */
export async function dbExport(context: CommandContext): Promise<number> {
  const file = context.arguments.positionals[1] ?? 'kong.yml';
  const path = resolve(context.cwd, file);
  if (existsSync(path)) throw new CliError(`${file} exists`);
  const text = await withTarget(context, (target) => target.export({ style: 'kong', format: 'yaml' }));
  writeFile(path, file, text, 'wx');
  return 0;
}
