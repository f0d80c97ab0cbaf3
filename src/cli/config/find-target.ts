import { localAdmin, remoteAdmin } from '../admin-api/find-admin.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { runningNode } from '../node/pid-file.ts';
import { settingsOf } from '../settings-of.ts';
import { AdminTarget } from './admin-target.ts';
import type { ConfigTarget } from './config-target.ts';

/** The node at `--admin`, else the node that runs in the prefix, else the store of the settings. */
export async function findTarget(context: CommandContext): Promise<ConfigTarget> {
  const remote = remoteAdmin(context);
  if (remote !== null) return new AdminTarget(remote);
  const { settings } = settingsOf(context);
  if (settings.role !== 'data_plane' && runningNode(settings.prefix) !== null)
    return new AdminTarget(localAdmin(context, settings));
  if (settings.role === 'data_plane') {
    throw new CliError('a data plane has no config of its own: run this command on a control plane, or pass --admin');
  }
  if (settings.database === 'off') {
    throw new CliError(
      'this command needs a database or a running node; with database = off, the config is the document of declarative_config',
    );
  }
  const { openStoreTarget } = await import('./store-target.ts');
  return openStoreTarget(settings, context.cwd);
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
