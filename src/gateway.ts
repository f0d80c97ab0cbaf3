import { enableCompileCache } from 'node:module';
import { type NodeDevelopment, nodeDevelopment } from './boot/development/node-development.ts';
import type { DevelopmentOptions } from './boot/development/shown-problems.ts';
import { estateOf } from './boot/handover/estate.ts';
import type { Predecessor } from './boot/handover/predecessor.ts';
import type { Estate } from './boot/handover/successor.ts';
import type { ListeningNode } from './boot/listen-node.ts';
import type { ActivatedSocket } from './boot/listeners/activated-sockets.ts';
import { adminCertificates } from './boot/listeners/admin-certificates.ts';
import { clusterCertificates } from './boot/listeners/cluster-certificates.ts';
import type { BoundAddress, GatewayAddresses } from './boot/listeners/gateway-addresses.ts';
import { clientCertificate, listenerCertificates } from './boot/listeners/listener-certificates.ts';
import { openSockets } from './boot/listeners/open-sockets.ts';
import { createNodeCore } from './boot/node-core.ts';
import { reopenLogs } from './boot/open-node.ts';
import { compileCacheOf } from './boot/process/compile-cache.ts';
import { debugTokenOf, writeAddresses } from './boot/process/node-files.ts';
import { nodeIdOf } from './boot/process/node-id.ts';
import { Reloading, type ReloadResult } from './boot/reload/reloading.ts';
import { startNode } from './boot/start-node.ts';
import type { PluginReload } from './control/plugin-reload/plugin-reload.ts';
import type { WorkerThreads } from './control/supervisor/worker-threads.ts';
import { pluginBase } from './shared/plugin-loader/plugin-base.ts';
import { preparePrefix } from './shared/settings/kinds/prefix.ts';
import type { ListenAddress, Settings } from './shared/settings/settings.ts';
import { setEngineFlags } from './shared/util/process/engine-flags.ts';

/** A running node. */
export interface Gateway {
  readonly addresses: GatewayAddresses;
  /**
   * Ends the node; resolves when every listener, worker and the store are closed. Graceful: the node reports that it is not ready,
   * accepts connections for `shutdownDelay` milliseconds more (default: the setting), and then waits for requests
   * in flight for at most `drainTimeout`. A second call that is not graceful cuts a graceful one short.
   */
  stop(graceful: boolean, shutdownDelay?: number): Promise<void>;
  /** Opens the log files again, after they were moved away. */
  reopenLogs(): void;
  /**
   * Applies settings that were read again, as far as a running node can. Rejects with one line when one of them cannot be
   * used; then nothing is changed.
   */
  reload(settings: Settings): Promise<ReloadResult>;
  /** Replaces the code of users' plugins. */
  readonly pluginReload: Pick<PluginReload, 'run'>;
  /** What a process that replaces this one receives; it stays valid while the node runs. */
  estate(): Estate;
  /**
   * Ends the node like a graceful stop, while another process accepts on the same sockets. `released` is called when its Admin API is
   * closed.
   */
  handOver(released: () => void): Promise<void>;
  /** Whether some worker listens and responds. */
  isAlive(): boolean;
  /** The error log of the control plane. */
  readonly log: GatewayLog;
  /** With `StartOptions.development`. */
  readonly development?: NodeDevelopment;
}

export interface GatewayLog {
  log(level: 'notice' | 'error', message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface StartOptions {
  /** False in tests, where an uncaught exception must fail the test. Default true: it is logged, and the node continues. */
  readonly ownsProcess?: boolean;
  /** Sockets that systemd has opened (socket activation). */
  readonly activated?: readonly ActivatedSocket[];
  /** The running node that this one replaces. */
  readonly predecessor?: Predecessor | null;
  /** Called when every listener accepts, before the addresses are written to the prefix. */
  readonly takeOver?: () => Promise<void>;
  /** Cancels the start: what was started is stopped, and the promise rejects. */
  readonly signal?: AbortSignal;
  /** Threads that load the code of the first workers already. Those that the node does not use are ended. */
  readonly threads?: WorkerThreads;
  /** For `sluicegate dev`: clients see the source lines of errors. No setting leads to it. */
  readonly development?: DevelopmentOptions;
}

/**
 * Starts a node; resolves when every worker and the Admin API listen. Rejects with an `Error` of one line that says
 * what is wrong; then nothing of the node is left running.
 */
export async function startGateway(
  settings: Settings,
  warnings: readonly string[],
  options: StartOptions = {},
): Promise<Gateway> {
  try {
    return await start(settings, warnings, options);
  } finally {
    await options.threads?.end();
  }
}

async function start(
  settings: Settings,
  warnings: readonly string[],
  { ownsProcess = true, signal, activated = [], predecessor = null, takeOver, threads, development }: StartOptions,
): Promise<Gateway> {
  setEngineFlags();
  preparePrefix(settings.prefix);
  const compileCache = compileCacheOf(settings);
  enableCompileCache(compileCache);
  const certificates = {
    ...listenerCertificates(settings),
    ...adminCertificates(settings),
    clientCertificate: clientCertificate(settings),
    hybrid: clusterCertificates(settings),
  };
  const handedOver = predecessor?.welcome.sockets ?? null;
  const { listeners, wanted, release, ...sockets } = await openSockets(settings, { handedOver, activated });
  const requestDebugToken = debugTokenOf(settings, predecessor?.welcome.debugToken ?? null);
  const bound = { ...settings, ...certificates, ...listeners, requestDebugToken } satisfies Settings;
  const nodeId = nodeIdOf(settings.prefix, settings.nodeId);
  const baseDirectory = pluginBase(settings, process.cwd());
  const core = createNodeCore({
    settings: bound,
    nodeId,
    compileCache,
    baseDirectory,
    ownsProcess,
    ...sockets,
    predecessor,
    threads: threads ?? null,
    application: null,
    ...(development && { development }),
  });
  const { shutdown } = core;
  const abandon = (): void => void shutdown.stop(false, 0);
  let node: ListeningNode;
  signal?.addEventListener('abort', abandon, { once: true });
  try {
    signal?.throwIfAborted();
    node = await startNode(core, warnings);
    signal?.throwIfAborted();
    await takeOver?.();
    signal?.throwIfAborted();
  } catch (error) {
    await shutdown.stop(false, 0);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abandon);
    release();
  }
  const bindings: GatewayAddresses = {
    proxy: boundTo(bound.proxyListen),
    stream: bound.streamListen.map(({ ip, port, ssl, udp }) => ({ ip, port, ssl, udp })),
    admin: boundTo(bound.adminListen),
    status: boundTo(bound.statusListen),
    dashboard: boundTo(bound.adminGuiListen.filter((address) => isListening(node, address))),
    portal: boundTo(bound.portalListen),
    cluster: boundTo(bound.clusterListen),
  };
  writeAddresses(bound, bindings);
  const reloading = new Reloading(settings, bound, node.reload);
  // What the old process wrote last is not announced to this one.
  void predecessor?.released.then(() => node.publisher.catchUp());
  return {
    addresses: bindings,
    stop: (graceful, shutdownDelay = settings.shutdownDelay) => shutdown.stop(graceful, shutdownDelay),
    reopenLogs: () => reopenLogs(node),
    reload: (next) => reloadAll(node, reloading, next),
    pluginReload: node.pluginReload,
    estate: () => estateOf(node, wanted),
    handOver: (released) => handOver(node, released),
    // A control plane has no workers.
    isAlive: () => settings.workers === 0 || node.supervisor.running().length > 0,
    log: node.logs.node,
    ...(node.development && { development: nodeDevelopment(node, node.development) }),
  };
}

/** Milliseconds for which one worker alone runs new code of plugins. */
const observeCode = 10_000;

/** The settings, and then the code of plugins, unless a new process loads it anyway. */
async function reloadAll({ pluginReload }: ListeningNode, reloading: Reloading, next: Settings): Promise<ReloadResult> {
  const result = await reloading.run(next);
  if (result.byNewProcess.length > 0) return result;
  const plugins = await pluginReload.run({ observe: observeCode });
  if (plugins.needs_new_process === true) return { ...result, byNewProcess: ['plugins'] };
  return { ...result, plugins };
}

/** Milliseconds between two looks for changes that the new process has written. */
const followInterval = 500;

/** Requests in flight see changes of the config that the new process writes: a revoked credential is revoked here, too. */
async function handOver({ publisher, reports, shutdown }: ListeningNode, released: () => void): Promise<void> {
  const follow = setInterval(() => publisher.catchUp(), followInterval);
  try {
    await reports.handOver();
    await shutdown.handOver(released);
  } finally {
    clearInterval(follow);
  }
}

/** An optional address may be in use by another program. */
function isListening({ listeners }: ListeningNode, { ip, port }: ListenAddress): boolean {
  return listeners.some(({ addresses }) => addresses.some((bound) => bound.ip === ip && bound.port === port));
}

function boundTo(addresses: readonly ListenAddress[]): readonly BoundAddress[] {
  return addresses.map(({ ip, port, ssl }) => ({ ip, port, ssl }));
}
