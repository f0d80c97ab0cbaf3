import { readFileSync } from 'node:fs';
import { debugTokenFileOf } from '../../settings/prefix.ts';
import type { Settings } from '../../settings/settings.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { boundListeners, reachableHost } from '../node-addresses.ts';
import { runningNode } from '../pid-file.ts';
import { settingsOf } from '../settings-of.ts';

/** Where a request goes in, and what opens its explanation. */
export interface Door {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** The certificate has to be that of the name. The node of the prefix is reached on this machine. */
  readonly verify: boolean;
  readonly token: string;
}

/** By `--proxy` and `--token`; else the node that runs in the prefix. `secure`: its TLS listener is wanted. */
export function findDoor(context: CommandContext, secure: boolean): Door {
  const { options } = context.arguments;
  const { proxy, token } = options;
  // What is given needs no settings.
  if (typeof proxy === 'string' && typeof token === 'string') return { ...given(context, proxy), token };
  const { settings } = settingsOf(context);
  if (typeof proxy === 'string') return { ...given(context, proxy), token: tokenOf(settings) };
  if (runningNode(settings.prefix) === null) throw new CliError(`Sluicegate is not running in ${settings.prefix}`);
  return { ...listenerOf(settings, secure), token: typeof token === 'string' ? token : tokenOf(settings) };
}

function given(context: CommandContext, proxy: string): Omit<Door, 'token'> {
  const url = URL.parse(proxy);
  if (url === null || !/^https?:$/.test(url.protocol) || !/^\/?$/.test(url.pathname)) {
    throw new CliError(`--proxy is not the http or https URL of a listener: '${proxy}'`);
  }
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const verify = context.arguments.options['insecure'] !== true;
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, secure, verify };
}

function tokenOf({ prefix, requestDebug, requestDebugToken }: Settings): string {
  if (!requestDebug) throw new CliError('the gateway explains nothing: request_debug is off');
  if (requestDebugToken !== null) return requestDebugToken;
  try {
    return readFileSync(debugTokenFileOf(prefix), 'utf8').trim();
  } catch (error) {
    const denied = error instanceof Error && 'code' in error && error.code === 'EACCES';
    throw new CliError(
      denied
        ? `${debugTokenFileOf(prefix)} can be read by the user of the gateway only`
        : `there is no debug token in ${prefix}: give it by --token, or as the gateway has it, by SLUICEGATE_REQUEST_DEBUG_TOKEN`,
    );
  }
}

function listenerOf(settings: Settings, secure: boolean): Omit<Door, 'token'> {
  const listeners = boundListeners(settings.prefix, 'proxy') ?? settings.proxyListen;
  // Before a listener that expects the PROXY protocol stands something else, which would have to be asked.
  const usable = listeners.filter(({ proxyProtocol }) => !proxyProtocol);
  const found = usable.find(({ ssl }) => ssl === secure) ?? (secure ? undefined : usable[0]);
  if (found === undefined) {
    const kind = listeners.length > usable.length ? ' without the PROXY protocol' : '';
    throw new CliError(`the gateway has no proxy listener${secure ? ' with TLS' : ''}${kind}: name one by --proxy`);
  }
  return { host: reachableHost(found.ip), port: found.port, secure: found.ssl, verify: false };
}
