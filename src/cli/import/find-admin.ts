import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { boundListeners, urlOfListener } from '../node/node-addresses.ts';
import { findRunningNode } from '../node/running-node.ts';
import { settingsOf } from '../settings-of.ts';
import { AdminClient } from './admin-client.ts';

export interface AdminAddress {
  readonly address: string;
  readonly token: string | null;
}

/** The Admin API at the URL of `--admin`, else that of the node that runs in the prefix. */
export function findAdmin(context: CommandContext): AdminClient {
  const { address, token } = findAdminAddress(context);
  return new AdminClient(address, token);
}

export function findAdminAddress(context: CommandContext): AdminAddress {
  const { admin, token } = context.arguments.options;
  const given = typeof token === 'string' ? token : null;
  // The local node's token is sent to that node only.
  if (typeof admin === 'string')
    return { address: admin, token: given ?? context.env['SLUICEGATE_ADMIN_TOKEN'] ?? null };
  const { prefix, adminListen, adminToken } = settingsOf(context).settings;
  findRunningNode(context, ': start it, or pass the URL of an Admin API with --admin');
  const listeners = boundListeners(prefix, 'admin') ?? adminListen;
  const listener = listeners.find(({ ssl }) => !ssl) ?? listeners[0];
  if (listener === undefined)
    throw new CliError(`the node in ${prefix} has no Admin API; pass the URL of another with --admin`);
  return { address: urlOfListener(listener), token: given ?? adminToken };
}
