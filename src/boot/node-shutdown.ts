import { setTimeout as wait } from 'node:timers/promises';
import type { RunningListener } from '../control/admin/contract.ts';
import type { Supervisor } from '../control/supervisor/supervisor.ts';
import { awaitWithTimeout } from '../shared/util/time/await-with-timeout.ts';
import { NodeVitals } from '../shared/zones/worker-vitals.ts';
import type { NodeLogs } from './observability/node-logs.ts';
import { runStopSteps, type StopLog, type StopStep } from './stop-steps.ts';

/** Milliseconds that workers and open connections of the Admin API may take to close after they are cut off. */
const cutOffLimit = 3000;

/** What is stopped, in this order; the log names it when it does not stop. */
const stopOrder = [
  'the control plane',
  // After the workers: their last counts are sent and stored.
  'background tasks of plugins',
  'analytics',
  'the copy of consumers and credentials',
  'the copy of the config',
  'the store',
] as const;

type StoppedPart = (typeof stopOrder)[number];

export interface NodeShutdownOptions {
  readonly supervisor: Supervisor;
  readonly vitals: SharedArrayBuffer;
  /** Milliseconds for requests in flight. */
  readonly drainTimeout: number;
}

/**
 * Stops a node at any stage, also in the middle of one: each part is registered as soon as it has to be stopped. Every wait is
 * bounded.
 */
export class NodeShutdown {
  readonly #options: NodeShutdownOptions;
  readonly #begun = new AbortController();
  readonly #closing = new AbortController();
  readonly #cutOff = new AbortController();
  readonly #listeners: RunningListener[] = [];
  readonly #parts = new Map<StoppedPart, (() => void | Promise<void>)[]>();
  #log: StopLog = { warn: () => {} };
  #closeLogs: () => Promise<void> = async () => {};
  #stopped: Promise<void> | null = null;

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
  }

  /** Aborted as soon as the node begins to stop. */
  get begun(): AbortSignal {
    return this.#begun.signal;
  }

  /** Aborted after the shutdown delay, before the listeners close: requests of the Admin API may wait for what runs until then. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The logs are closed last. */
  logTo(logs: NodeLogs): void {
    this.#log = logs.node;
    this.#closeLogs = () => logs.close();
  }

  addListener(listener: RunningListener): void {
    this.#listeners.push(listener);
  }

  add(part: StoppedPart, stop: () => void | Promise<void>): void {
    this.#parts.set(part, [...(this.#parts.get(part) ?? []), stop]);
  }

  /** Not graceful: also cuts short a graceful stop that is in progress. `shutdownDelay`: milliseconds. */
  async stop(graceful: boolean, shutdownDelay: number): Promise<void> {
    this.#begun.abort();
    new NodeVitals(this.#options.vitals).stopping = true;
    if (!graceful) {
      this.#cutOff.abort();
      const cutOff = Promise.all([this.#options.supervisor.terminate(), this.#closeListeners(false)]);
      await awaitWithTimeout(cutOff, cutOffLimit);
    }
    this.#stopped ??= this.#stopAll(graceful, shutdownDelay);
    await this.#stopped;
  }

  /**
   * Another process accepts on the same sockets: stops like a graceful stop, except that the node does not report that it is not
   * ready. `released` is called when nothing is written to the store any more except by requests in flight.
   */
  async handOver(released: () => void): Promise<void> {
    this.#begun.abort();
    this.#stopped ??= this.#handOver(released);
    await this.#stopped;
  }

  async #handOver(released: () => void): Promise<void> {
    const { supervisor, drainTimeout } = this.#options;
    this.#closing.abort();
    const draining = supervisor.handOver(drainTimeout);
    await runStopSteps([this.#stepOf('analytics')], this.#log);
    const closed = Promise.all(this.#listeners.map((listener) => listener.handOver()));
    const inTime = await awaitWithTimeout(closed, drainTimeout);
    if (!inTime) await this.#closeListeners(false);
    released();
    await draining;
    await runStopSteps(
      stopOrder.filter((part) => part !== 'analytics').map((part) => this.#stepOf(part)),
      this.#log,
    );
    await this.#closeLogs();
  }

  async #stopAll(graceful: boolean, shutdownDelay: number): Promise<void> {
    const { supervisor, drainTimeout } = this.#options;
    const draining = graceful ? supervisor.drain(drainTimeout, shutdownDelay) : null;
    // Until then the status API reports that the node is not ready.
    if (graceful && shutdownDelay > 0) await wait(shutdownDelay, null, { signal: this.#cutOff.signal }).catch(() => {});
    this.#closing.abort();
    if (graceful) {
      if (!(await awaitWithTimeout(this.#closeListeners(true), drainTimeout))) await this.#closeListeners(false);
      await draining;
    }
    await runStopSteps(
      stopOrder.map((part) => this.#stepOf(part)),
      this.#log,
    );
    await this.#closeLogs();
  }

  #stepOf(part: StoppedPart): StopStep {
    return {
      name: part,
      run: async () => {
        for (const stop of this.#parts.get(part) ?? []) await stop();
      },
    };
  }

  async #closeListeners(graceful: boolean): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close(graceful)));
  }
}
