import type { Gateway } from '../../gateway.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { isLoopback } from '../../shared/util/net/loopback.ts';
import { version } from '../../version.ts';
import { startedMessage } from '../commands/started-message.ts';
import type { DevelopedPlugin } from './find-plugins.ts';
import type { CodeWatcher } from './watch/code-watcher.ts';

export interface StartedOptions {
  readonly gateway: Pick<Gateway, 'addresses' | 'development'>;
  readonly settings: Settings;
  readonly plugins: readonly DevelopedPlugin[];
  readonly watcher: Pick<CodeWatcher, 'truncated' | 'polls'>;
  /** The gateway has the example route; else the config of a file. */
  readonly example: boolean;
}

/** What is printed when the gateway is up. */
export function startedLines(options: StartedOptions): readonly string[] {
  const { gateway, settings, plugins, watcher, example } = options;
  const listeners = startedMessage(settings, gateway.addresses).filter((line) => /^ {2}(?!status|curl)/.test(line));
  const [proxy = ''] = /https?:\/\/\S+/.exec(listeners[0] ?? '') ?? [];
  const names = gateway.development?.plugins().map(({ name }) => name) ?? [];
  return [
    `Sluicegate ${version} in development mode`,
    ...listeners,
    `  plugins    ${names.length === 0 ? 'bundled' : `${names.join(', ')}${example ? ', on every request' : ''}`}`,
    ...(example ? ['  backend    answers with what it has received'] : []),
    ...(example ? ['Try:', `  curl -i ${proxy}/`] : []),
    ...warnings(settings, watcher),
    plugins.length === 0
      ? 'Ctrl-C ends it.'
      : `Save a file of ${plugins.map(({ entry }) => entry).join(', ')}: it is live at once. Ctrl-C ends it.`,
    '',
  ];
}

function warnings({ proxyListen }: Settings, { truncated, polls }: Pick<CodeWatcher, 'truncated' | 'polls'>) {
  const reachable = proxyListen.some(({ ip }) => !isLoopback(ip));
  return [
    ...(reachable
      ? ['Note: the proxy listens on an address that is not loopback, so clients see no source code.']
      : []),
    ...(truncated ? ['Note: the folder has too many files; not all of them are watched.'] : []),
    ...(polls ? ['Note: the system cannot watch all folders; changes in them are found a little later.'] : []),
  ];
}
