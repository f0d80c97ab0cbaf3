import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../util/files/make-folder.ts';
import { SettingsError } from '../settings-error.ts';

/** The pid file of the node that runs in this prefix. */
export function pidFileOf(prefix: string): string {
  return join(prefix, 'pids', 'sluicegate.pid');
}

/** The lock that the node of this prefix holds for as long as it runs. */
export function prefixLockOf(prefix: string): string {
  return join(prefix, 'pids', 'sluicegate.lock');
}

/** The SQLite file of that node. Without a database (`off`) it holds only state, such as admin users. */
export function storeFileOf(prefix: string, database: string): string {
  return join(prefix, database === 'off' ? 'dbless.sqlite' : 'store.sqlite');
}

/** The debug token of that node, when it has generated one. */
export function debugTokenFileOf(prefix: string): string {
  return join(prefix, 'request_debug_token');
}

/** The addresses of that node, as JSON. */
export function addressesFileOf(prefix: string): string {
  return join(prefix, 'pids', 'addresses.json');
}

/** Creates the prefix (for its owner alone) and the directories in it. */
export function preparePrefix(prefix: string): void {
  try {
    for (const folder of [prefix, join(prefix, 'logs'), join(prefix, 'pids')]) {
      makeFolder(folder);
      accessSync(folder, constants.W_OK | constants.X_OK);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingsError(
      `cannot write to the prefix ${prefix}: ${reason}; choose another with --prefix or SLUICEGATE_PREFIX`,
    );
  }
}
