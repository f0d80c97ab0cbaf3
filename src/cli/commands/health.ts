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
  const address = statusAddress(prefix);
  if (address === null) return null;
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

/** A node that is still starting has not written its addresses yet. */
function statusAddress(prefix: string): StatusAddress | null {
  try {
    const { status } = JSON.parse(readFileSync(addressesFileOf(prefix), 'utf8')) as {
      status?: readonly StatusAddress[];
    };
    return status?.find(({ ssl, proxyProtocol }) => !ssl && !proxyProtocol) ?? null;
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
