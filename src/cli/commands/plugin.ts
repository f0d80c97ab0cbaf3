import { suggest } from '../../shared/util/suggest.ts';
import { CliError } from '../cli-error.ts';
import type { Command, CommandContext } from '../command.ts';

const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  new: async () => (await import('./plugin/new.ts')).newPlugin,
  check: async () => (await import('./plugin/check.ts')).checkPlugin,
  test: async () => (await import('./plugin/run-tests.ts')).runTests,
  docs: async () => (await import('./plugin/docs.ts')).documentPlugin,
  integrity: async () => (await import('./plugin/integrity.ts')).printIntegrity,
  pack: async () => (await import('./plugin/pack.ts')).packPlugin,
  reload: async () => (await import('./plugin/reload.ts')).reloadPlugins,
};

/** `plugin <what>`: everything for a plugin of your own. */
export async function plugin(context: CommandContext): Promise<number> {
  const [name] = context.arguments.positionals;
  const names = Object.keys(loaders);
  if (name === undefined) throw new CliError(`usage: sluicegate plugin ${names.join('|')}`);
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (load === undefined) {
    const guess = suggest(name, names);
    throw new CliError(`No such command: plugin ${name}${guess === null ? '' : ` (did you mean ${guess}?)`}`);
  }
  const command = await load();
  return command(context);
}
