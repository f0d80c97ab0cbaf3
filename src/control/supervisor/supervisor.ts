import type { FromWorker, SettingsChange, SnapshotFailure, ToWorker } from '../../shared/messages/messages.ts';
import { pluginDrainTimeout } from '../../shared/messages/plugin-settings.ts';
import { pluginOfFile } from '../../shared/plugin-loader/plugin-origin.ts';
import { heapCeiling, workerHeapLimit } from '../../shared/settings/heap-limit.ts';
import type { LogLevel } from '../../shared/settings/settings.ts';
import type { ListeningSocket } from '../../shared/sockets/listening-sockets.ts';
import type { TrafficMessage } from '../../shared/traffic/traffic-record.ts';
import { sharedClock } from '../../shared/util/time/clock.ts';
import { Counter, resetGauges, workerCounters } from '../../shared/zones/counters.ts';
import { NodeVitals, type PluginCall, WorkerState } from '../../shared/zones/worker-vitals.ts';
import type { WorkerConfig } from '../publish/publisher-options.ts';
import type { BusyPlace } from './pause-thread.ts';
import { Quarantine } from './quarantine.ts';
import { Respawns } from './respawns.ts';
import type { SupervisorOptions } from './supervisor-options.ts';
import { Waiters } from './waiters.ts';
import { Watchdog } from './watchdog.ts';
import { WorkerHandle } from './worker-handle.ts';
import { startWorkerThread } from './worker-threads.ts';

/** Milliseconds that a worker has after its drain timeout: for its plugins, and to close and end. */
const exitGrace = pluginDrainTimeout + 1000;
/** Milliseconds in which a terminated thread ends, unless it is blocked in a system call or in native code. */
const terminateGrace = 10_000;

/** Starts the data-plane workers, replaces those that die, and carries messages between the planes. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #workers: (WorkerHandle | null)[];
  #ticketKeys: Uint8Array | null = null;
  readonly #respawns = new Respawns((number) => this.#spawn(number));
  readonly #versionWaiters = new Waiters();
  readonly #started = Promise.withResolvers<void>();
  #config: (() => WorkerConfig) | null = null;
  #logLevel: LogLevel;
  #changed: SettingsChange = {};
  /** Sent to workers that start, too; null: none was sent. */
  #recording: ToWorker | null = null;
  #stopping = false;
  #allReady = false;
  #stuck = 0;
  readonly #quarantine = new Quarantine();
  readonly #heapLimit: number;
  readonly #vitals: NodeVitals;
  readonly #watchdog: Watchdog<WorkerHandle>;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#logLevel = options.boot.settings.logLevel;
    this.#workers = Array.from({ length: options.workers }, () => null);
    this.#heapLimit = workerHeapLimit(options.boot.settings);
    this.#vitals = new NodeVitals(options.boot.vitals);
    this.#watchdog = new Watchdog({
      vitals: this.#vitals,
      clock: sharedClock(),
      timeout: options.threads?.borrowed === true ? 0 : options.boot.settings.workerTimeout,
      workers: () => this.#live(),
      // From now on nothing waits for its acknowledgements.
      suspected: () => this.#versionWaiters.check(),
      // Its heap is not the gateway's either.
      heapCeiling: options.threads?.borrowed === true ? Number.POSITIVE_INFINITY : heapCeiling(this.#heapLimit),
      readHeap: (worker) => worker.heapUsed(),
      heapFull: (worker, used) => this.#replaceFull(worker, used),
      stuck: (worker, silence) => void this.#replaceStuck(worker, silence),
    });
    // The node may be stopped before anything waits for the start.
    this.#started.promise.catch(() => {});
  }

  /** Starts every worker. They load their code and wait for `configure`. */
  start(): void {
    for (const number of this.#workers.keys()) this.#spawn(number);
    // A control plane has none.
    if (this.#workers.length === 0) {
      this.#allReady = true;
      this.#started.resolve();
    }
  }

  /** Sends every worker, and each that replaces one later, the whole config. `config` returns the current one. */
  configure(config: () => WorkerConfig): void {
    this.#config = config;
    const now = config();
    for (const worker of this.#live()) this.#sendConfig(worker, now);
  }

  /** Resolves when all workers listen; rejects with one clear line when one of them cannot. */
  ready(): Promise<void> {
    return this.#started.promise;
  }

  /** To all workers that have the config; the others will get a newer one. */
  broadcast(message: ToWorker): void {
    if (message.type === 'delta') this.#quarantine.release(message.json);
    if (message.type === 'log-level') this.#logLevel = message.level;
    if (message.type === 'settings') this.#changed = { ...this.#changed, ...message.settings };
    if (message.type === 'record-traffic') this.#recording = message;
    if (message.type === 'ticket-keys') this.#ticketKeys = message.keys;
    for (const worker of this.#live()) if (worker.configured) worker.post(message);
  }

  /** Resolves to true when every worker has this version or a later one, to false when `timeout` milliseconds are over. */
  settled(version: number, timeout: number): Promise<boolean> {
    return this.#versionWaiters.wait(() => this.#isSettled(version), timeout);
  }

  /** Numbers of the workers that have the config, but not this version of it. */
  lagging(version: number): readonly number[] {
    const late = this.#live().filter((worker) => worker.configured && worker.version < version);
    return late.map(({ number }) => number);
  }

  /** Workers that were replaced because they no longer responded, or because their heap stayed full. */
  get stuck(): number {
    return this.#stuck;
  }

  /** Workers that listen now and respond, by number. */
  running(): readonly WorkerHandle[] {
    return this.#live().filter((worker) => worker.ready && this.#watchdog.isResponsive(worker));
  }

  /** The code of these plugin instances was replaced: workers that start set them up again. */
  forgive(instances: readonly string[]): void {
    this.#quarantine.forgive(instances);
  }

  /** Workers whose thread runs, also those that do not listen yet. */
  workers(): readonly WorkerHandle[] {
    return this.#live();
  }

  /** Ends all workers, after `delay`: those still busy after `timeout` milliseconds are cut off. */
  async drain(timeout: number, delay = 0): Promise<void> {
    await this.#endAll({ type: 'drain', delay, timeout }, delay + timeout);
  }

  async #endAll(message: ToWorker, limit: number): Promise<void> {
    this.#stop();
    const late = AbortSignal.timeout(limit + exitGrace);
    await Promise.all(
      this.#live().map(async (worker) => {
        if (!worker.configured) return worker.terminate();
        worker.post(message);
        await Promise.race([worker.exited(), aborted(late)]);
        if (late.aborted) {
          this.#options.log.log('warn', 'worker did not end in time and is cut off', { worker: worker.number });
          await worker.terminate();
        }
      }),
    );
    this.#watchdog.stop();
  }

  /** What the workers listen on. */
  sockets(): readonly ListeningSocket[] {
    return this.#live().flatMap((worker) => worker.sockets);
  }

  /** Another process accepts on the same sockets: the workers stop accepting, finish within `timeout` milliseconds and end. */
  async handOver(timeout: number): Promise<void> {
    await this.#endAll({ type: 'hand-over', timeout }, timeout);
  }

  /** Ends all workers at once. */
  async terminate(): Promise<void> {
    this.#stop();
    this.#watchdog.stop();
    await Promise.all(this.#live().map((worker) => worker.terminate()));
  }

  /** The watchdog continues: a stop must not wait for a worker that is stuck. */
  #stop(): void {
    this.#stopping = true;
    this.#respawns.cancel();
    this.#started.reject(new Error('the node is stopping'));
  }

  #spawn(number: number): void {
    const { boot } = this.#options;
    resetGauges(boot.zones, number);
    const row = workerCounters(boot.zones, number);
    row[Counter.logTaken] = row[Counter.logPosted]!;
    this.#vitals.setState(number, WorkerState.starting);
    const settings = { ...boot.settings, ...this.#changed, logLevel: this.#logLevel };
    const thread =
      this.#options.threads?.take(number) ??
      this.#options.startThread(() => startWorkerThread(number, this.#heapLimit, boot.compileCache));
    const worker = new WorkerHandle(thread, number, {
      message: (from, message) => this.#receive(from, message),
      exit: (from, code, error) => this.#exited(from, code, error),
    });
    worker.boot({
      ...boot,
      settings,
      worker: number,
      heapLimit: this.#heapLimit,
      quarantine: this.#quarantine.list(),
      ticketKeys: this.#ticketKeys ?? boot.ticketKeys,
      inherited: this.#options.inherited(number),
      code: this.#options.code(),
    });
    this.#workers[number] = worker;
    if (this.#config !== null) this.#sendConfig(worker, this.#config());
  }

  #sendConfig(worker: WorkerHandle, config: WorkerConfig): void {
    worker.configured = true;
    worker.post({ type: 'config', ...config });
    if (this.#recording !== null) worker.post(this.#recording);
  }

  #receive(worker: WorkerHandle, message: FromWorker): void {
    switch (message.type) {
      case 'log':
        workerCounters(this.#options.boot.zones, worker.number)[Counter.logTaken]!++;
        this.#options.workerLog.log(message.level, message.message, { worker: worker.number, ...message.fields });
        break;
      case 'ack':
        worker.version = message.version;
        this.#setFailures(worker, message.failures);
        this.#versionWaiters.check();
        break;
      case 'ready':
        worker.ready = true;
        worker.sockets = message.sockets;
        this.#vitals.setState(worker.number, WorkerState.listening);
        this.#markReady(worker);
        break;
      case 'call':
        void this.#options.onCall(message.call).then((result) => {
          worker.answer(message.id, result);
        });
        break;
      case 'health':
        this.#options.onHealth(message);
        break;
      case 'counts':
        this.#options.onCounts(message.counts);
        break;
      case 'usage-switched':
        this.#options.onUsageTurned(worker.number, message);
        break;
      case 'traffic':
        this.#receiveTraffic(worker, message);
        break;
      case 'plugin-code-applied':
        this.#options.onPluginCode(worker.number, message);
        break;
      case 'heap-full':
        this.#replaceFull(worker, message.used);
        break;
      case 'fatal':
        // Until all are ready this error prevents the start, and is reported once, not for each worker.
        if (!this.#allReady) this.#started.reject(new Error(message.message));
        else this.#options.log.log('error', message.message, { worker: worker.number });
        break;
    }
  }

  /** Confirmed when it is stored: a worker whose records wait for too long drops further ones. */
  #receiveTraffic(worker: WorkerHandle, message: TrafficMessage): void {
    this.#options.onTraffic(worker.number, message);
    const characters = message.records.reduce(
      (sum, [entry, explanation, raw, bodies = '']) =>
        sum + entry.length + explanation.length + raw.length + bodies.length,
      0,
    );
    if (characters > 0) worker.post({ type: 'traffic-taken', characters });
  }

  #markReady(worker: WorkerHandle): void {
    if (this.#allReady) {
      this.#options.log.log('notice', 'worker replaced', { worker: worker.number });
    } else if (this.#workers.every((each) => each?.ready)) {
      this.#allReady = true;
      this.#started.resolve();
    }
  }

  #exited(worker: WorkerHandle, code: number, error: Error | null): void {
    const { log, boot, nameCall } = this.#options;
    const call = this.#vitals.pluginCall(worker.number);
    this.#vitals.setState(worker.number, WorkerState.absent);
    resetGauges(boot.zones, worker.number);
    this.#options.onExit(worker.number);
    if (this.#workers[worker.number] === worker) this.#workers[worker.number] = null;
    this.#setFailures(worker, []);
    this.#versionWaiters.check();
    if (this.#stopping) return;
    const blamed = call.phase === null ? {} : nameCall(call);
    const fields = { worker: worker.number, code, ...blamed, ...(error === null ? {} : { err: error }) };
    // A borrowed thread has said why, and lives on.
    const borrowed = this.#options.threads?.borrowed === true;
    if (!worker.condemned && !borrowed) log.log('crit', 'worker died', fields);
    if (!this.#allReady && !worker.condemned) {
      this.#started.reject(error ?? new Error(`a worker ended with code ${code} before it was ready`));
      return;
    }
    if (borrowed) return;
    this.#respawns.schedule(worker.number, performance.now() - worker.startedAt);
  }

  async #replaceStuck(worker: WorkerHandle, silence: number): Promise<void> {
    const call = this.#vitals.pluginCall(worker.number);
    if (call.phase === 'setup') this.#quarantine.add(call.instance);
    const busy = await worker.busyWith();
    // The worker may have ended meanwhile.
    if (this.#workers[worker.number] !== worker) return;
    const message = this.#stopping ? 'worker does not respond and is ended' : 'worker does not respond and is replaced';
    this.#condemn(worker, message, {
      silent_ms: Math.round(silence),
      ...this.#options.nameCall(call),
      ...(busy === null ? {} : busyFields(call, busy)),
    });
  }

  #replaceFull(worker: WorkerHandle, used: number): void {
    this.#condemn(worker, 'the heap of a worker is full; the worker is replaced', {
      heap_used: used,
      heap_limit: this.#heapLimit,
      ...this.#options.nameCall(this.#vitals.pluginCall(worker.number)),
    });
  }

  /** Ends a worker for good. Its successor starts once the thread has ended: they share a row of memory. */
  #condemn(worker: WorkerHandle, message: string, fields: Readonly<Record<string, unknown>>): void {
    if (worker.condemned) return;
    worker.condemned = true;
    this.#stuck++;
    const { log } = this.#options;
    log.log('crit', message, { worker: worker.number, ...fields });
    const late = setTimeout(() => {
      log.log('alert', 'a worker thread cannot be ended; restart the node', { worker: worker.number });
    }, terminateGrace).unref();
    void worker.terminate().finally(() => clearTimeout(late));
  }

  #setFailures(worker: WorkerHandle, failures: readonly SnapshotFailure[]): void {
    if (worker.failures.length === 0 && failures.length === 0) return;
    worker.failures = failures;
    this.#options.onFailures(this.#live().flatMap((each) => each.failures));
  }

  #isSettled(version: number): boolean {
    return this.#live().every(
      (worker) => !worker.configured || worker.version >= version || !this.#watchdog.isResponsive(worker),
    );
  }

  #live(): readonly WorkerHandle[] {
    return this.#workers.filter((worker) => worker !== null);
  }
}

/** A loop outside of a phase (a timer, code after an `await`) is named by its file: the last call may have been of another plugin. */
function busyFields({ phase }: PluginCall, { text, file }: BusyPlace): Readonly<Record<string, unknown>> {
  const plugin = phase === null ? pluginOfFile(file) : null;
  return { ...(plugin === null ? {} : { plugin }), at: text };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
