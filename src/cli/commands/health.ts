import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { addressesFileOf } from '../../shared/settings/kinds/prefix.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { runningNode } from '../node/pid-file.ts';
import { settingsOf } from '../settings-of.ts';

export async function health(context: CommandContext): Promise<number> {
  const { prefix } = settingsOf(context).settings;
  if (runningNode(prefix) === null) throw new CliError(`Sluicegate is not running at ${prefix}`);
  const reason = await notReadyReason(prefix);
  if (reason !== null) throw new CliError(`Sluicegate is not ready at ${prefix}: ${reason}`);
  context.out('sluicegate..running');
  context.out('');
  context.out(`Sluicegate is healthy at ${prefix}`);
  return 0;
}

/** Milliseconds to wait for an answer. */
const answerTimeout = 5000;

interface StatusAddress {
  readonly ip: string;
  readonly port: number;
  readonly ssl: boolean;
  readonly proxyProtocol: boolean;
}

/** Queries the status listener; null: the node is ready, or has no status listener in plain HTTP. */
async function notReadyReason(prefix: string): Promise<string | null> {
  const addresses = readAddresses(prefix);
  // They are written when the node listens.
  if (addresses === null) return 'it is still starting';
  const address = addresses.status?.find(({ ssl, proxyProtocol }) => !ssl && !proxyProtocol);
  if (address === undefined) return null;
  try {
    const response = await fetch(`http://${hostOf(address.ip)}:${address.port}/status/ready`, {
      signal: AbortSignal.timeout(answerTimeout),
    });
    const { message } = (await response.json()) as { message?: unknown };
    return response.status === 200 ? null : String(message ?? `status ${response.status}`);
  } catch (error) {
    return `the status listener does not answer (${error instanceof Error ? error.message : error})`;
  }
}

function readAddresses(prefix: string): { readonly status?: readonly StatusAddress[] } | null {
  try {
    return JSON.parse(readFileSync(addressesFileOf(prefix), 'utf8'));
  } catch {
    return null;
  }
}

/** A listener on all interfaces is queried by loopback. */
function hostOf(ip: string): string {
  if (ip === '0.0.0.0') return '127.0.0.1';
  if (ip === '::') return '[::1]';
  return isIPv6(ip) ? `[${ip}]` : ip;
}
