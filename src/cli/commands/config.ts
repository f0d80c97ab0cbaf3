import { suggest } from '../../shared/util/suggest.ts';
import { CliError } from '../cli-error.ts';
import type { Command, CommandContext } from '../command.ts';

const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  check: async () => (await import('./config/check.ts')).check,
  diff: async () => (await import('./config/diff.ts')).diff,
  apply: async () => (await import('./config/apply.ts')).apply,
  export: async () => (await import('./config/export.ts')).exportConfig,
  import: async () => (await import('./config/import.ts')).importConfig,
  history: async () => (await import('./config/history.ts')).history,
  rollback: async () => (await import('./config/rollback.ts')).rollback,
  init: async () => (await import('./config/init.ts')).init,
  parse: async () => (await import('./config/parse.ts')).parse,
  db_import: async () => (await import('./config/db-import.ts')).dbImport,
  db_export: async () => (await import('./config/db-export.ts')).dbExport,
};

/** `config <what>`: the config as a document, and its versions. */
export async function config(context: CommandContext): Promise<number> {
  const [name] = context.arguments.positionals;
  const names = Object.keys(loaders);
  if (name === undefined) throw new CliError(`usage: sluicegate config ${names.join('|')}`);
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (load === undefined) {
    const guess = suggest(name, names);
    throw new CliError(`No such command: config ${name}${guess === null ? '' : ` (did you mean ${guess}?)`}`);
  }
  const command = await load();
  return command(context);
}
