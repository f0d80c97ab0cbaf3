import { readFileSync } from 'node:fs';
import { ownListener, reachableHost } from '../../shared/explain/own-listener.ts';
import type { ExplainingEndpoint } from '../../shared/explain/send-explained.ts';
import { debugTokenFileOf } from '../../shared/settings/kinds/prefix.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { boundListeners } from '../node/node-addresses.ts';
import { runningNode } from '../node/pid-file.ts';
import { settingsOf } from '../settings-of.ts';

/** The node of the prefix runs on this machine, so its certificate is not checked. */
export type ProxyEndpoint = ExplainingEndpoint;

/** The values of `--proxy` and `--token`; else those of the node that runs in the prefix. `secure`: choose its TLS listener. */
export function resolveProxy(context: CommandContext, secure: boolean): ProxyEndpoint {
  const { options } = context.arguments;
  const { proxy, token } = options;
  // With both options, no settings are needed.
  if (typeof proxy === 'string' && typeof token === 'string') return { ...given(context, proxy), token };
  const { settings } = settingsOf(context);
  if (typeof proxy === 'string') return { ...given(context, proxy), token: tokenOf(settings) };
  if (runningNode(settings.prefix) === null) throw new CliError(`Sluicegate is not running in ${settings.prefix}`);
  return { ...listenerOf(settings, secure), token: typeof token === 'string' ? token : tokenOf(settings) };
}

function given(context: CommandContext, proxy: string): Omit<ProxyEndpoint, 'token'> {
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
  if (!requestDebug) throw new CliError('request_debug is off, so the gateway explains no requests');
  if (requestDebugToken !== null) return requestDebugToken;
  try {
    return readFileSync(debugTokenFileOf(prefix), 'utf8').trim();
  } catch (error) {
    const denied = error instanceof Error && 'code' in error && error.code === 'EACCES';
    throw new CliError(
      denied
        ? `${debugTokenFileOf(prefix)} can only be read by the user that runs the gateway`
        : `there is no debug token in ${prefix}: pass it with --token or SLUICEGATE_REQUEST_DEBUG_TOKEN`,
    );
  }
}

function listenerOf(settings: Settings, secure: boolean): Omit<ProxyEndpoint, 'token'> {
  const listeners = boundListeners(settings.prefix, 'proxy') ?? settings.proxyListen;
  const found = ownListener(listeners, secure);
  if (found === null) {
    const kind = listeners.some(({ proxyProtocol }) => proxyProtocol) ? ' without the PROXY protocol' : '';
    throw new CliError(
      `the gateway has no proxy listener${secure ? ' with TLS' : ''}${kind}: pass the URL of one with --proxy`,
    );
  }
  return { host: reachableHost(found.ip), port: found.port, secure: found.ssl, verify: false };
}
