import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import type { Gateway } from '../../gateway.ts';
import { addressesFileOf, preparePrefix } from '../../shared/settings/kinds/prefix.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import type { CommandContext } from '../command.ts';
import { claimPrefix } from '../node/pid-file.ts';
import type { Signals } from '../node/signals.ts';
import { listenForSignals } from '../node/signals.ts';
import { settingsOf } from '../settings-of.ts';
import { checkLogTargets } from './check-log-targets.ts';
import { startedMessage } from './started-message.ts';

/** Starts the node and resolves when it has ended. */
export async function start(context: CommandContext): Promise<number> {
  const { settings, warnings } = settingsOf(context);
  preparePrefix(settings.prefix);
  checkLogTargets(settings);
  const release = claimPrefix(settings.prefix);
  // Until this node listens, no command may use the addresses of an earlier node.
  rmSync(addressesFileOf(settings.prefix), { force: true });
  let gateway: Gateway | null = null;
  const say = (message: string): void => context.err(lineOf(settings, message));
  const signals = listenForSignals((signal) => {
    gateway?.reopenLogs();
    if (signal !== 'SIGHUP') return;
    say('reopened the log files; settings are read only at start, restart to apply changed settings');
    void gateway?.reloadConfig();
  });
  try {
    const started = await startUnlessSignalled(context, settings, warnings, signals, say);
    if (typeof started === 'number') return started;
    gateway = started;
    announce(context, settings, started);
    return await untilStopped(started, signals, settings, say);
  } finally {
    rmSync(addressesFileOf(settings.prefix), { force: true });
    // Before the signals get back their default actions: a second one must not leave the pid file behind.
    release();
    signals.dispose();
  }
}

/** Milliseconds in which an abandoned start has to close what it opened. */
const abandonLimit = 3000;

/** The gateway, or the exit code when a signal came first: a start may wait for a database for a long time. */
async function startUnlessSignalled(
  context: CommandContext,
  settings: Settings,
  warnings: readonly string[],
  signals: Signals,
  say: (message: string) => void,
): Promise<Gateway | number> {
  const { startGateway } = await context.loadGateway();
  const abandoned = new AbortController();
  const starting = startGateway(settings, warnings, { signal: abandoned.signal });
  const first = await Promise.race([starting, signals.end]);
  if (typeof first !== 'string') return first;
  say(`${first}: abandoning the start`);
  abandoned.abort();
  const second = await Promise.race([awaitWithTimeout(starting, abandonLimit), signals.endNow]);
  say('Sluicegate stopped');
  return typeof second === 'string' ? 128 + constants.signals[second] : 0;
}

function announce(context: CommandContext, settings: Settings, gateway: Gateway): void {
  const { addresses } = gateway;
  const [first = '', ...others] = startedMessage(settings, addresses);
  context.out(lineOf(settings, first, { addresses }));
  if (settings.logFormat !== 'json') for (const line of others) context.out(line);
}

/** In the format of the error log, so that a collector of JSON receives nothing else. */
function lineOf({ logFormat }: Settings, message: string, fields: Readonly<Record<string, unknown>> = {}): string {
  if (logFormat !== 'json') return message;
  return JSON.stringify({ level: 'notice', time: new Date().toISOString(), ...fields, msg: message });
}

function stopPlan(shutdownDelay: number, drainTimeout: number): string {
  const finish = `finishing requests in flight, at most ${drainTimeout / 1000} s`;
  return shutdownDelay === 0 ? finish : `not ready, closing listeners in ${shutdownDelay / 1000} s, then ${finish}`;
}

async function untilStopped(
  gateway: Gateway,
  signals: Signals,
  settings: Settings,
  say: (message: string) => void,
): Promise<number> {
  const signal = await signals.end;
  // A user at a terminal is waiting.
  const shutdownDelay = signal === 'SIGINT' ? 0 : settings.shutdownDelay;
  say(`${signal}: ${stopPlan(shutdownDelay, settings.drainTimeout)}; a second signal ends at once`);
  const graceful = gateway.stop(true, shutdownDelay).then(() => null);
  const second = await Promise.race([graceful, signals.endNow]);
  if (second === null) {
    say('Sluicegate stopped (gracefully)');
    return 0;
  }
  // The graceful stop is cut short, so its outcome does not matter.
  graceful.catch(() => null);
  void gateway.stop(false).catch(() => null);
  say('Sluicegate stopped');
  return 128 + constants.signals[second];
}
