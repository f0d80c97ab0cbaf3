import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';

/** `import openapi <file>` and `import kong [file]...`. */
export async function importConfig(context: CommandContext): Promise<number> {
  const [kind] = context.arguments.positionals;
  if (kind === 'openapi') return (await import('./import-api.ts')).importApi(context);
  if (kind === 'kong') return (await import('./import-kong.ts')).importKong(context);
  throw new CliError(
    'usage: sluicegate import openapi <file>, or sluicegate import kong <file>... (see sluicegate import --help)',
  );
}
