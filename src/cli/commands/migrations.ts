import { version } from '../../version.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { findLayout, type Layout } from '../migrations/find-layout.ts';
import { listMigrations, statusOf } from '../migrations/print-migrations.ts';
import { reportingNodes } from '../migrations/reporting-nodes.ts';

type Action = (context: CommandContext, layout: Layout) => Promise<number>;

const actions: Readonly<Record<string, Action>> = { bootstrap, up, finish, list, status, reset };

/** `migrations bootstrap|up|finish|list|status|reset`: the layout of the database, with Kong's exit codes. */
export async function migrations(context: CommandContext): Promise<number> {
  const [name = ''] = context.arguments.positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    throw new CliError(`unknown action '${name}'; known are: ${Object.keys(actions).join(', ')}`);
  }
  const quiet = context.arguments.options['quiet'] === true;
  const layout = await findLayout(context);
  try {
    return await action(quiet ? { ...context, out: () => undefined } : context, layout);
  } finally {
    await layout.migrations.close();
  }
}

async function bootstrap(context: CommandContext, { migrations }: Layout): Promise<number> {
  if ((await migrations.state()) !== null) {
    context.out('Database already bootstrapped');
    return 0;
  }
  await migrations.up();
  return printExecuted(context, (await migrations.state())?.executed ?? []);
}

async function up(context: CommandContext, { migrations }: Layout): Promise<number> {
  const state = needStore(await migrations.state());
  if (state.fresh.length === 0) {
    context.out('Database is already up-to-date');
    return 0;
  }
  await migrations.up();
  const after = needStore(await migrations.state());
  printExecuted(context, state.fresh);
  if (after.pending.length > 0) {
    context.out("Run 'sluicegate migrations finish' when every node has this version");
  }
  return 0;
}

async function finish(context: CommandContext, { migrations }: Layout): Promise<number> {
  const state = needStore(await migrations.state());
  if (state.pending.length === 0) {
    context.out('No pending migrations to finish');
    return 0;
  }
  const others = (await reportingNodes(migrations)).filter((node) => node.version !== version);
  if (others.length > 0 && context.arguments.options['force'] !== true) {
    const named = others.map(({ hostname, version }) => `${hostname} (${version})`).join(', ');
    throw new CliError(`nodes of another version than ${version} run: ${named}; upgrade them first, or pass --force`);
  }
  return printExecuted(context, await migrations.finish());
}

async function list(context: CommandContext, { migrations }: Layout): Promise<number> {
  return listMigrations(context, await migrations.state());
}

async function status(context: CommandContext, { migrations }: Layout): Promise<number> {
  context.out(JSON.stringify(statusOf(await migrations.state()), null, 2));
  return 0;
}

async function reset(context: CommandContext, { migrations, node }: Layout): Promise<number> {
  const { options } = context.arguments;
  if (options['yes'] !== true) {
    throw new CliError('this deletes the config, all credentials and the history; pass --yes if you want that');
  }
  if (node !== null) throw new CliError(`a node runs in ${node}: stop it first`);
  const nodes = await reportingNodes(migrations);
  if (nodes.length > 0 && options['force'] !== true) {
    throw new CliError(
      `${nodes.length} ${nodes.length === 1 ? 'node uses' : 'nodes use'} the database: stop them first, or pass --force`,
    );
  }
  context.out((await migrations.reset()) ? 'Database successfully reset' : 'Database is empty');
  return 0;
}

function needStore<T>(state: T | null): T {
  if (state === null) throw new CliError("the database needs bootstrapping; run 'sluicegate migrations bootstrap'");
  return state;
}

function printExecuted(context: CommandContext, names: readonly string[]): number {
  for (const name of names) context.out(`${name} (executed)`);
  context.out(`${names.length} migrations processed`);
  context.out('Database is up-to-date');
  return 0;
}
