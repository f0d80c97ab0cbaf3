import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { predecessorVariable } from '../../boot/handover/messages.ts';
import type { Predecessor } from '../../boot/handover/predecessor.ts';
import type { Successor } from '../../boot/handover/successor.ts';
import type { ActivatedSocket } from '../../boot/listeners/activated-sockets.ts';
import type { Gateway, StartOptions } from '../../gateway.ts';
import { addressesFileOf, preparePrefix } from '../../shared/settings/kinds/prefix.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import type { CommandContext } from '../command.ts';
import { PrefixClaim } from '../node/prefix-claim.ts';
import { Reload } from '../node/reload.ts';
import { ServiceManager } from '../node/service-manager.ts';
import type { Signals } from '../node/signals.ts';
import { listenForSignals } from '../node/signals.ts';
import { Upgrade } from '../node/upgrade.ts';
import { settingsOf } from '../settings-of.ts';
import { buildDashboard } from './build-dashboard.ts';
import { checkLogTargets } from './check-log-targets.ts';
import { startedMessage } from './started-message.ts';

/** Starts the node and resolves when it has ended. */
export async function start(context: CommandContext): Promise<number> {
  const predecessor = await connectToPredecessor(context);
  try {
    return await startNode(context, predecessor);
  } catch (error) {
    predecessor?.fail(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** The node that this process replaces; null: none. */
async function connectToPredecessor({ env }: CommandContext): Promise<Predecessor | null> {
  if (env[predecessorVariable] === undefined) return null;
  const { Predecessor: PredecessorClass } = await import('../../boot/handover/predecessor.ts');
  return await PredecessorClass.connect(process.env);
}

async function socketsOfSystemd({ env }: CommandContext): Promise<readonly ActivatedSocket[]> {
  if (env['LISTEN_FDS'] === undefined) return [];
  const { activatedSockets } = await import('../../boot/listeners/activated-sockets.ts');
  return activatedSockets(process.env);
}

async function startNode(context: CommandContext, predecessor: Predecessor | null): Promise<number> {
  const { settings, warnings } = settingsOf(context);
  const { prefix } = settings;
  preparePrefix(prefix);
  checkLogTargets(settings);
  const activated = await socketsOfSystemd(context);
  const claim = new PrefixClaim(prefix);
  if (predecessor === null) {
    claim.take();
    // Until this node listens, no command may use the addresses of an earlier node.
    rmSync(addressesFileOf(prefix), { force: true });
  }
  let gateway: Gateway | null = null;
  const say = (message: string): void => context.err(lineOf(settings, message));
  const upgrade = new Upgrade({ context, prefix, claim, timeout: settings.upgradeTimeout, say });
  const manager = new ServiceManager({ env: context.env, warn: say });
  const reload = new Reload({ context, settings, upgrade, manager });
  const signals = listenForSignals({
    reopen: () => gateway?.reopenLogs(),
    reload: () => void reload.begin(gateway),
    upgrade: () => void upgrade.begin(gateway),
  });
  const takeOver = async (): Promise<void> => {
    await predecessor?.takeOver();
    claim.take();
  };
  try {
    const started = await startUnlessSignalled(context, settings, signals, say, {
      warnings,
      ...(activated.length === 0 ? {} : { activated }),
      ...(predecessor === null ? {} : { predecessor, takeOver }),
    });
    if (typeof started === 'number') return started;
    gateway = started;
    announce(context, settings, started);
    if (context.arguments.options['build-dashboard'] === true && settings.adminGuiListen.length > 0) buildDashboard();
    predecessor?.takenOver();
    manager.ready();
    manager.watch(() => started.isAlive());
    return await untilStopped(started, signals, { upgrade, manager, settings, say });
  } finally {
    await manager.close();
    // They belong to the process that has taken over, if there is one.
    if (claim.held) rmSync(addressesFileOf(prefix), { force: true });
    // Before the signals get back their default actions: a second one must not leave the pid file behind.
    claim.end();
    signals.dispose();
  }
}

/** Milliseconds in which an abandoned start has to close what it opened. */
const abandonLimit = 3000;

/** The gateway, or the exit code when a signal came first: a start may wait for a database for a long time. */
async function startUnlessSignalled(
  context: CommandContext,
  settings: Settings,
  signals: Signals,
  say: (message: string) => void,
  { warnings, ...options }: StartOptions & { readonly warnings: readonly string[] },
): Promise<Gateway | number> {
  const { startGateway } = await context.loadGateway(settings);
  const abandoned = new AbortController();
  const cancelled = options.predecessor?.abandoned;
  const signal = cancelled === undefined ? abandoned.signal : AbortSignal.any([abandoned.signal, cancelled]);
  const starting = startGateway(settings, warnings, { ...options, signal });
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

interface Run {
  readonly upgrade: Upgrade;
  readonly manager: ServiceManager;
  readonly settings: Settings;
  readonly say: (message: string) => void;
}

async function untilStopped(
  gateway: Gateway,
  signals: Signals,
  { upgrade, manager, settings, say }: Run,
): Promise<number> {
  const first = await Promise.race([signals.end, upgrade.taken]);
  if (typeof first !== 'string') {
    // From now on systemd watches the other process.
    await manager.close();
    return await finishRequests(gateway, first, signals, settings, say);
  }
  manager.stopping();
  await upgrade.cancel();
  // A user at a terminal is waiting.
  const shutdownDelay = first === 'SIGINT' ? 0 : settings.shutdownDelay;
  say(`${first}: ${stopPlan(shutdownDelay, settings.drainTimeout)}; a second signal ends at once`);
  return await ended(gateway, gateway.stop(true, shutdownDelay), signals.endNow, say);
}

/** Another process is the node: this one serves the requests that it has. */
async function finishRequests(
  gateway: Gateway,
  successor: Successor,
  signals: Signals,
  settings: Settings,
  say: (message: string) => void,
): Promise<number> {
  say(`process ${process.pid}: ${stopPlan(0, settings.drainTimeout)}`);
  try {
    return await ended(
      gateway,
      gateway.handOver(() => successor.released()),
      signals.end,
      say,
    );
  } finally {
    successor.close();
  }
}

async function ended(
  gateway: Gateway,
  ending: Promise<void>,
  cutOff: Promise<NodeJS.Signals>,
  say: (message: string) => void,
): Promise<number> {
  const graceful = ending.then(() => null);
  const second = await Promise.race([graceful, cutOff]);
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
