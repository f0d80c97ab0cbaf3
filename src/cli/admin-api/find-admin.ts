import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '../../shared/settings/settings.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { boundListeners, urlOfListener } from '../node/node-addresses.ts';
import { findRunningNode } from '../node/running-node.ts';
import { settingsOf } from '../settings-of.ts';
import { AdminApi } from './admin-api.ts';

/** The Admin API at the URL of `--admin`, else that of the node that runs in the prefix. */
export function findAdmin(context: CommandContext): AdminApi {
  const remote = remoteAdmin(context);
  if (remote !== null) return remote;
  const { settings } = settingsOf(context);
  findRunningNode(context, ': start it, or pass the URL of an Admin API with --admin');
  return localAdmin(context, settings);
}

/** Null: without `--admin`. */
export function remoteAdmin(context: CommandContext): AdminApi | null {
  const { admin } = context.arguments.options;
  // The local node's token is sent to that node only.
  return typeof admin === 'string' ? new AdminApi(admin, givenToken(context) ?? tokenOfEnvironment(context)) : null;
}

/** The Admin API of the node that runs in the prefix of the settings. */
export function localAdmin(context: CommandContext, { prefix, adminToken }: Settings): AdminApi {
  const listeners = boundListeners(prefix, 'admin');
  // The addresses are written when the node listens. Those of the settings could be another node's.
  if (listeners === null) throw new CliError(`the node in ${prefix} is still starting`);
  const listener = listeners.find(({ ssl }) => !ssl) ?? listeners[0];
  if (listener === undefined) {
    throw new CliError(`the node in ${prefix} has no Admin API; pass the URL of another with --admin`);
  }
  return new AdminApi(urlOfListener(listener), givenToken(context) ?? tokenOfEnvironment(context) ?? adminToken);
}

function tokenOfEnvironment({ env }: CommandContext): string | null {
  return env['SLUICEGATE_ADMIN_TOKEN'] ?? null;
}

function givenToken({ arguments: { options }, cwd }: CommandContext): string | null {
  const { token, 'token-file': file } = options;
  if (typeof token === 'string') return token;
  if (typeof file !== 'string') return null;
  try {
    return readFileSync(resolve(cwd, file), 'utf8').trim();
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}
