import { constants } from 'node:os';
import type { Gateway } from '../gateway.ts';
import { preparePrefix } from '../settings/prefix.ts';
import type { Settings } from '../settings/settings.ts';
import { checkLogTargets } from './check-log-targets.ts';
import type { CommandContext } from './command.ts';
import { claimPrefix } from './pid-file.ts';
import { settingsOf } from './settings-of.ts';
import type { Signals } from './signals.ts';
import { listenForSignals } from './signals.ts';
import { startedMessage } from './started-message.ts';

/** Starts the node and resolves when it has ended. */
export async function start(context: CommandContext): Promise<number> {
  const { settings, warnings } = settingsOf(context);
  preparePrefix(settings.prefix);
  checkLogTargets(settings);
  const release = claimPrefix(settings.prefix);
  let gateway: Gateway | null = null;
  const signals = listenForSignals((signal) => {
    gateway?.reopenLogs();
    if (signal === 'SIGHUP')
      context.err('logs are open anew; settings are read at start, so a change of them needs a restart');
  });
  try {
    const { startGateway } = await context.loadGateway();
    const started = await startGateway(settings, warnings);
    gateway = started;
    announce(context, settings, started);
    return await endOf(started, signals, settings, context);
  } finally {
    signals.dispose();
    release();
  }
}

function announce(context: CommandContext, settings: Settings, gateway: Gateway): void {
  const lines = startedMessage(settings, gateway.addresses);
  if (settings.logFormat !== 'json') {
    for (const line of lines) context.out(line);
    return;
  }
  const record = { level: 'notice', time: new Date().toISOString(), msg: lines[0], addresses: gateway.addresses };
  context.out(JSON.stringify(record));
}

async function endOf(gateway: Gateway, signals: Signals, settings: Settings, context: CommandContext): Promise<number> {
  const signal = await signals.end;
  const seconds = settings.drainTimeout / 1000;
  context.err(`${signal}: finishing requests in flight, at most ${seconds} s; a second signal ends at once`);
  const graceful = gateway.stop(true).then(() => null);
  const second = await Promise.race([graceful, signals.endNow]);
  if (second === null) {
    context.err('Sluicegate stopped (gracefully)');
    return 0;
  }
  // The graceful stop is cut short, so nobody waits for what becomes of it.
  graceful.catch(() => null);
  void gateway.stop(false).catch(() => null);
  context.err('Sluicegate stopped');
  return 128 + constants.signals[second];
}
