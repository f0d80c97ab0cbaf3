import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunningListener, StatusFrontPlace, ZoneFacts } from '../admin/contract.ts';
import type { Analytics } from '../analytics/analytics.ts';
import { type AddressZoneMemory, createAddressZone, forgetInFlight } from '../balancer/address-zone.ts';
import type { CallHandler } from '../lookup/call-handler.ts';
import { PluginCounts } from '../observability/plugin-counts.ts';
import type { Settings } from '../settings/settings.ts';
import type { Publisher } from '../snapshot/publisher.ts';
import type { Store } from '../store/store.ts';
import { TicketKeys } from '../tls/ticket-keys.ts';
import { collectAtRest } from '../util/collect-at-rest.ts';
import { settledWithin } from '../util/settled-within.ts';
import type { SnapshotDelta, SnapshotFailure } from '../workers/messages.ts';
import { pluginCallFields } from '../workers/plugin-call-fields.ts';
import { pluginSettings } from '../workers/plugin-settings.ts';
import { Supervisor, type SupervisorLog } from '../workers/supervisor.ts';
import { Counter, createCounters, sumCounter } from '../zones/counters.ts';
import { createVitals, NodeVitals } from '../zones/worker-vitals.ts';
import { recoverMemory, zoneFill } from '../zones/zone-kinds.ts';
import { ZoneRegistry } from '../zones/zone-registry.ts';
import type { BackgroundParts } from './background-parts.ts';
import { ControlPlanePriority } from './control-plane-priority.ts';
import { DescriptorWatch, openDescriptors } from './descriptor-watch.ts';
import { ExpiryJob } from './expiry-job.ts';
import type { NodeAddresses } from './node-addresses.ts';
import { openAnalytics, usageMemories } from './node-analytics.ts';
import type { NodeLogs } from './node-logs.ts';
import type { NodeMetrics } from './node-metrics.ts';
import type { OpenedStore } from './open-store.ts';
import { runStopSteps, type StopStep } from './stop-steps.ts';
import type { WorkerCalls } from './worker-calls.ts';

/** Bytes that fit into a socket path on every system. */
const longestSocketPath = 100;
/** Milliseconds that workers and open connections of the Admin API may take to close after they are cut off. */
const cutOffLimit = 3000;

export interface NodeOptions {
  readonly settings: Settings;
  readonly nodeId: string;
  readonly compileCache: string;
  /** Where relative names of plugins start. */
  readonly baseDirectory: string;
  /** Exceptions that nobody caught are logged rather than ending the process. */
  readonly ownsProcess: boolean;
}

/**
 * Everything that runs in a node. The order of the start is made for speed: workers load their code while the store is
 * opened, the config goes out as soon as it is read, and only the Admin API waits for the Admin API's modules.
 */
export class NodeParts {
  readonly #options: NodeOptions;
  readonly #counters: SharedArrayBuffer;
  readonly #vitals: SharedArrayBuffer;
  readonly #addressMemory: AddressZoneMemory;
  readonly #ticketKeys = new TicketKeys();
  #addresses: NodeAddresses | null = null;
  readonly #supervisor: Supervisor;
  readonly #priority = new ControlPlanePriority();
  readonly #ending = new AbortController();
  readonly #cut = new AbortController();
  readonly #opened = Promise.withResolvers<NodeLogs>();
  readonly #calls = Promise.withResolvers<CallHandler>();
  readonly #pluginCounts = new PluginCounts();
  #zones: ZoneRegistry | null = null;
  #workerCalls: WorkerCalls | null = null;
  #background: BackgroundParts | null = null;
  #metrics: NodeMetrics | null = null;
  #restarts = 0;
  readonly #usageMemories: readonly SharedArrayBuffer[];
  #analytics: Analytics | null = null;
  #expiry: ExpiryJob | null = null;
  #descriptors: DescriptorWatch | null = null;
  #logs: NodeLogs | null = null;
  #store: Store | null = null;
  #publisher: Publisher | null = null;
  readonly #listeners: RunningListener[] = [];
  #stopped: Promise<void> | null = null;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#counters = createCounters(options.settings.workers);
    this.#vitals = createVitals(options.settings.workers);
    this.#addressMemory = createAddressZone(options.settings.workers);
    this.#usageMemories = usageMemories(options.settings);
    this.#supervisor = new Supervisor({
      boot: {
        nodeId: options.nodeId,
        settings: forWorkers(options.settings),
        baseDirectory: options.baseDirectory,
        compileCache: options.compileCache,
        zones: this.#counters,
        vitals: this.#vitals,
        addresses: this.#addressMemory,
        ticketKeys: this.#ticketKeys.current,
        usage: this.#usageMemories,
      },
      workers: options.settings.workers,
      log: this.#lateLog((logs) => logs.node),
      workerLog: this.#lateLog((logs) => logs.proxy),
      nameCall: (call) => (this.#publisher === null ? {} : pluginCallFields(call, this.#publisher.config())),
      onFailures: (failures) => this.#noteFailures(failures),
      onCall: (call) => this.#calls.promise.then((handler) => handler.handle(call)),
      onHealth: (change) => this.#addresses?.health.monitor.workerFlipped(change),
      onCounts: (counts) => this.#pluginCounts.add(counts),
      onUsageTurned: (worker, { serial, names }) => this.#analytics?.turned(worker, serial, names),
      onExit: (worker) => {
        this.#recoverZones(worker);
        this.#analytics?.ended(worker);
      },
      startThread: (start) => this.#priority.startThread(start),
    });
  }

  async start(warnings: readonly string[]): Promise<void> {
    this.#supervisor.start();
    const logs = await this.#openLogs();
    for (const warning of warnings) logs.node.warn(warning);
    this.#descriptors = new DescriptorWatch(logs.node);
    this.#descriptors.start(this.#options.settings);
    if (this.#options.ownsProcess) this.#surviveMistakes(logs);
    const [opened] = await Promise.all([this.#beginConfig(logs), this.#supervisor.ready()]);
    await this.#listen(opened, logs);
    this.#ticketKeys.rotate(this.#options.settings.tlsPolicy.sessionTimeout, (keys) =>
      this.#supervisor.broadcast({ type: 'ticket-keys', keys }),
    );
    flushCompileCache();
    if (!this.#options.ownsProcess) return;
    await this.#priority.lower();
    collectAtRest(() => sumCounter(this.#counters, Counter.requests));
  }

  reopenLogs(): void {
    this.#logs?.reopen();
    this.#supervisor.broadcast({ type: 'reopen-logs' });
  }

  async stop(graceful: boolean, shutdownDelay: number): Promise<void> {
    this.#ending.abort();
    new NodeVitals(this.#vitals).stopping = true;
    if (!graceful) {
      // Also cuts short a graceful stop that is under way.
      this.#cut.abort();
      await this.#cutOff();
    }
    this.#stopped ??= this.#stopAll(graceful, shutdownDelay);
    await this.#stopped;
  }

  async #stopAll(graceful: boolean, shutdownDelay: number): Promise<void> {
    const { drainTimeout } = this.#options.settings;
    const draining = graceful ? this.#supervisor.drain(drainTimeout, shutdownDelay) : null;
    // Until then the status API reports that the node is not ready.
    if (graceful && shutdownDelay > 0) await wait(shutdownDelay, null, { signal: this.#cut.signal }).catch(() => {});
    // Requests of the Admin API may wait for what it does.
    this.#background?.abort();
    if (graceful) {
      if (!(await settledWithin(this.#closeListeners(true), drainTimeout))) await this.#closeListeners(false);
      await draining;
    }
    await runStopSteps(this.#stopSteps(), this.#logs?.node ?? null);
    await this.#logs?.close();
  }

  async #cutOff(): Promise<void> {
    await settledWithin(Promise.all([this.#supervisor.terminate(), this.#closeListeners(false)]), cutOffLimit);
  }

  #stopSteps(): readonly StopStep[] {
    return [
      {
        name: 'the control plane',
        run: () => {
          this.#ticketKeys.stop();
          this.#addresses?.dns.close();
          this.#addresses?.health.monitor.close();
          this.#expiry?.stop();
          this.#descriptors?.stop();
        },
      },
      // After the workers: their last counts are sent and stored.
      { name: 'background tasks of plugins', run: () => this.#background?.stop() },
      { name: 'analytics', run: () => this.#analytics?.stop() },
      { name: 'the copy of consumers and credentials', run: () => this.#workerCalls?.close() },
      { name: 'the copy of the config', run: () => this.#publisher?.close() },
      { name: 'the store', run: () => this.#store?.close() },
    ];
  }

  async #closeListeners(graceful: boolean): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close(graceful)));
  }

  async #openLogs(): Promise<NodeLogs> {
    const { openNodeLogs } = await import('./node-logs.ts');
    this.#logs = openNodeLogs(this.#options.settings);
    this.#opened.resolve(this.#logs);
    return this.#logs;
  }

  async #beginConfig(logs: NodeLogs): Promise<OpenedStore> {
    const { settings, baseDirectory } = this.#options;
    const { openStore } = await import('./open-store.ts');
    const opened = await openStore(settings, baseDirectory, logs.node);
    this.#store = opened.store;
    if (this.#ending.signal.aborted) {
      await opened.store.close();
      throw new Error('the node is stopping');
    }
    const { store, plugins } = opened;
    const [{ Publisher: PublisherClass }, { beginConfig }, { WorkerCalls: WorkerCallsClass }, { openAddresses }] =
      await Promise.all([
        import('../snapshot/publisher.ts'),
        import('./begin-config.ts'),
        import('./worker-calls.ts'),
        import('./node-addresses.ts'),
      ]);
    const zones = new ZoneRegistry(plugins, settings.workers);
    this.#zones = zones;
    const addresses = openAddresses({
      settings,
      nodeId: this.#options.nodeId,
      memory: this.#addressMemory,
      store,
      log: logs.node,
      broadcast: (message) => this.#supervisor.broadcast(message),
    });
    this.#addresses = addresses;
    const { book, names, health } = addresses;
    const metrics = await this.#openMetrics(opened, logs, addresses);
    const calls = new WorkerCallsClass({
      settings,
      opened,
      log: logs.node,
      publisher: () => publisher,
      lease: (requests) => store.leaseCounters(requests),
      resolve: (name) => names.resolve(name),
      background: (plugin, message) => background.handle(plugin, message),
    });
    this.#workerCalls = calls;
    this.#calls.resolve(calls.handler);
    const onDelta = (delta: SnapshotDelta): void => {
      calls.changed(delta);
      names.configChanged(delta);
      background.configChanged(delta);
      metrics.configChanged(delta);
      health.configChanged(delta);
    };
    const publisher = new PublisherClass({
      store,
      workers: this.#supervisor,
      log: logs.node,
      zones,
      addresses: book,
      recheck: () => calls.recheck(),
      onDelta,
    });
    this.#publisher = publisher;
    this.#analytics = await openAnalytics({
      settings,
      nodeId: this.#options.nodeId,
      store,
      supervisor: this.#supervisor,
      memories: this.#usageMemories,
      log: logs.node,
    });
    const background = await this.#openBackground(opened, logs, (version) => publisher.published(version));
    this.#expiry = new ExpiryJob(store, logs.node, settings.audit.retention);
    const { signal } = this.#ending;
    await beginConfig({ settings, store, publisher, log: logs.node, signal, restoreLookups: () => calls.restore() });
    return opened;
  }

  /** What plugins do beside the traffic. */
  async #openBackground(
    { store, entities, plugins }: OpenedStore,
    logs: NodeLogs,
    published: (version: number) => Promise<void>,
  ): Promise<BackgroundParts> {
    const [{ BackgroundParts: BackgroundPartsClass }, { backgroundStore }] = await Promise.all([
      import('./background-parts.ts'),
      import('./background-store.ts'),
    ]);
    this.#background = new BackgroundPartsClass({
      plugins,
      store: backgroundStore({ store, entities, hashKeys: this.#options.settings.hashKeys, published }),
      settings: pluginSettings(this.#options.settings),
      zone: (instance, name) => this.#zones?.find(instance, name) ?? null,
      metrics: () => this.#metrics?.collect() ?? Promise.resolve([]),
      count: (plugin, name, by) => this.#pluginCounts.add([[plugin, name, by]]),
      nodeId: this.#options.nodeId,
      log: logs.node,
    });
    return this.#background;
  }

  async #openMetrics({ plugins }: OpenedStore, logs: NodeLogs, { book, health }: NodeAddresses): Promise<NodeMetrics> {
    const { NodeMetrics: NodeMetricsClass } = await import('./node-metrics.ts');
    this.#metrics = new NodeMetricsClass({
      plugins,
      zone: (instance, name) => this.#zones?.find(instance, name) ?? null,
      background: async (plugin, message) => this.#background?.handle(plugin, message) ?? null,
      log: logs.node,
      book,
      health,
    });
    return this.#metrics;
  }

  async #listen(opened: OpenedStore, logs: NodeLogs): Promise<void> {
    const { settings, nodeId } = this.#options;
    const addresses = this.#addresses;
    const publisher = this.#publisher;
    const metrics = this.#metrics;
    const background = this.#background;
    if (addresses === null || publisher === null || metrics === null || background === null)
      throw new Error('the config comes before the Admin API');
    const { startListeners } = await import('./node-listeners.ts');
    await startListeners({
      settings,
      opened,
      logs,
      addresses,
      publisher,
      metrics,
      background,
      analytics: this.#analytics,
      facts: {
        nodeId,
        counters: this.#counters,
        vitals: this.#vitals,
        supervisor: this.#supervisor,
        zones: () => zoneFacts(this.#zones),
        pluginCounts: () => this.#pluginCounts.totals(),
      },
      restarts: () => this.#restarts,
      descriptors: () => ({
        open: openDescriptors(),
        limit: this.#descriptors?.limit ?? null,
        exhaustions: this.#descriptors?.exhaustions ?? 0,
      }),
      zone: (instance, name) => this.#zones?.find(instance, name) ?? null,
      front: this.#statusFront(),
      changeLogLevel: (level) => this.#supervisor.broadcast({ type: 'log-level', level }),
      started: (listener) => this.#listeners.push(listener),
    });
  }

  /** Null: the control plane serves the status API itself. */
  #statusFront(): StatusFrontPlace | null {
    const { settings, compileCache } = this.#options;
    const socketPath = resolve(settings.prefix, 'status.sock');
    // Logged requests are served by the control plane, which writes the log.
    if (settings.statusAccessLog !== 'off') return null;
    if (process.platform === 'win32' || Buffer.byteLength(socketPath) > longestSocketPath) return null;
    const startThread = <T>(start: () => T): T => this.#priority.startThread(start);
    return { socketPath, vitals: this.#vitals, compileCache, startThread };
  }

  /** The workers carry traffic: a mistake in the control plane must not take the process from under them. */
  #surviveMistakes(logs: NodeLogs): void {
    const survive = (error: unknown): void =>
      logs.node.crit('the control plane made a mistake and goes on', { err: error });
    process.on('uncaughtException', survive);
    process.on('unhandledRejection', survive);
    this.#ending.signal.addEventListener('abort', () => {
      process.off('uncaughtException', survive);
      process.off('unhandledRejection', survive);
    });
  }

  #recoverZones(worker: number): void {
    this.#restarts++;
    for (const { kind, memory } of this.#zones?.list() ?? []) recoverMemory(kind, memory, worker);
    forgetInFlight(this.#addressMemory, worker);
  }

  #noteFailures(failures: readonly SnapshotFailure[]): void {
    this.#publisher?.noteFailures(failures);
  }

  /** Workers start before the logs are open. */
  #lateLog(choose: (logs: NodeLogs) => SupervisorLog): SupervisorLog {
    return {
      log: (level, message, fields) => {
        void this.#opened.promise.then((logs) => choose(logs).log(level, message, fields));
      },
    };
  }
}

function zoneFacts(zones: ZoneRegistry | null): readonly ZoneFacts[] {
  return (zones?.list() ?? []).map(({ plugin, name, kind, memory }) => ({
    plugin,
    name,
    kind,
    ...zoneFill(kind, memory),
  }));
}

/** Secrets that the data plane has no use for stay in the control plane. */
function forWorkers(settings: Settings): Settings {
  return { ...settings, adminToken: null, pg: { ...settings.pg, password: null } };
}
