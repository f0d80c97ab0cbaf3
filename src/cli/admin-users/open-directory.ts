import { AdminClient } from '../admin-api/admin-client.ts';
import { findAdmin } from '../admin-api/find-admin.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { runningNode } from '../node/pid-file.ts';
import { settingsOf } from '../settings-of.ts';
import { apiDirectory } from './api-directory.ts';
import type { UserDirectory } from './directory.ts';

/** Admin users of the node that runs in the prefix, or of `--admin`; of its store when none runs or with `--store`. */
export async function openDirectory(context: CommandContext, command: string): Promise<UserDirectory> {
  const { admin, store } = context.arguments.options;
  if (admin !== undefined && store !== undefined) throw new CliError('--admin and --store exclude each other');
  if (admin !== undefined) return apiDirectory(new AdminClient(findAdmin(context)));
  const { settings } = settingsOf(context);
  if (store === undefined && runningNode(settings.prefix) !== null)
    return apiDirectory(new AdminClient(findAdmin(context)));
  const { storeDirectory } = await import('./store-directory.ts');
  return storeDirectory(settings, command);
}
