import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { boundListeners, urlOfListener } from '../node/node-addresses.ts';
import { runningNode } from '../node/pid-file.ts';
import { settingsOf } from '../settings-of.ts';
import { AdminTarget } from './admin-target.ts';
import type { ConfigTarget } from './config-target.ts';

/** The node at `--admin`, else the node that runs in the prefix, else the store of the settings. */
export async function findTarget(context: CommandContext): Promise<ConfigTarget> {
  const { options } = context.arguments;
  const url = options['admin'];
  const token = givenToken(context);
  // The local node's token is sent to that node only.
  if (typeof url === 'string') return new AdminTarget(url, token);
  const { settings } = settingsOf(context);
  const { prefix, adminListen, adminToken, database } = settings;
  if (runningNode(prefix) === null) {
    if (database === 'off') {
      throw new CliError(
        'this command needs a database or a running node; with database = off, the config is the document of declarative_config',
      );
    }
    const { openStoreTarget } = await import('./store-target.ts');
    return openStoreTarget(settings, context.cwd);
  }
  const listeners = boundListeners(prefix, 'admin') ?? adminListen;
  const listener = listeners.find(({ ssl }) => !ssl) ?? listeners[0];
  if (listener === undefined) {
    throw new CliError(`the node in ${prefix} has no Admin API; pass the URL of another with --admin`);
  }
  return new AdminTarget(urlOfListener(listener), token ?? adminToken);
}

/** Runs `work` with the target, and closes it. */
export async function withTarget<T>(context: CommandContext, work: (target: ConfigTarget) => Promise<T>): Promise<T> {
  const target = await findTarget(context);
  try {
    return await work(target);
  } finally {
    await target.close();
  }
}

function givenToken({ arguments: { options }, env, cwd }: CommandContext): string | null {
  const file = options['token-file'];
  if (typeof file !== 'string') return env['SLUICEGATE_ADMIN_TOKEN'] ?? null;
  try {
    return readFileSync(resolve(cwd, file), 'utf8').trim();
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}
