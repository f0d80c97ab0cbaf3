import type { WorkerThread } from '../control/supervisor/worker-threads.ts';
import type { DataPlane } from '../data/request/data-plane.ts';
import { type BorrowedThread, DataPlaneWorker } from '../data/worker/data-plane-worker.ts';
import type { Plugin } from '../plugin-sdk/define-plugin.ts';
import type { FromWorker, ToWorker, WorkerBoot } from '../shared/messages/messages.ts';
import { sharedClock } from '../shared/util/time/clock.ts';
import { beatInterval, Vital, workerVitals } from '../shared/zones/worker-vitals.ts';

export interface LocalThreadOptions extends BorrowedThread {
  /** Receives exceptions of the gateway itself: they must not reach the application. */
  readonly failed: (error: unknown) => void;
}

type Listener = (value: never) => void;

/**
 * The data plane in the thread of its control plane, behind what a worker thread is to the supervisor. A message arrives in a later
 * microtask, never during `postMessage`.
 */
export class LocalThread implements WorkerThread {
  readonly threadId = 0;
  readonly performance = { eventLoopUtilization: () => ({ idle: 0, active: 0 }) };
  readonly plugins: readonly Plugin[];
  readonly #options: LocalThreadOptions;
  readonly #listeners = new Map<string, Listener[]>();
  #started = Promise.withResolvers<DataPlaneWorker | null>();
  #booted = false;
  #ended = false;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: LocalThreadOptions) {
    this.plugins = options.plugins;
    this.#options = options;
  }

  /** The plane, once it has a config; null: it has ended before, or could not start. */
  async plane(): Promise<DataPlane | null> {
    const worker = await this.#started.promise;
    return this.#ended ? null : ((await worker?.listening()) ?? null);
  }

  on(event: string, listener: Listener): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
    return this;
  }

  /** The first message is the boot. */
  postMessage(message: WorkerBoot | ToWorker): void {
    if (!this.#booted) {
      this.#booted = true;
      const { resolve } = this.#started;
      void this.#begin(message as WorkerBoot).then(resolve);
      return;
    }
    void this.#started.promise
      .then((worker) => worker?.receive(message as ToWorker))
      .catch((error: unknown) => this.#options.failed(error));
  }

  /** The heap is that of the application. */
  async getHeapStatistics(): Promise<{ readonly used_heap_size: number }> {
    return { used_heap_size: 0 };
  }

  async terminate(): Promise<void> {
    const worker = this.#booted ? await this.#started.promise : null;
    try {
      await worker?.close();
    } catch (error) {
      this.#options.failed(error);
    }
    this.#end(1);
  }

  async #begin(boot: WorkerBoot): Promise<DataPlaneWorker | null> {
    try {
      this.#beat(boot);
      const worker = await DataPlaneWorker.create(boot, (message) => this.#post(message), this.#options);
      worker.onEnd(() => this.#end(0));
      return worker;
    } catch (error) {
      this.#post({ type: 'fatal', message: error instanceof Error ? error.message : String(error) });
      queueMicrotask(() => this.#end(1));
      return null;
    }
  }

  /** What waits for a worker does not wait for one without a heartbeat. */
  #beat({ vitals, worker }: WorkerBoot): void {
    const row = workerVitals(vitals, worker);
    const clock = sharedClock();
    const beat = (): void => {
      row[Vital.beat] = clock();
    };
    beat();
    this.#heartbeat = setInterval(beat, beatInterval).unref();
  }

  #post(message: FromWorker): void {
    queueMicrotask(() => this.#emit('message', message));
  }

  #end(code: number): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#heartbeat);
    this.#emit('exit', code);
    // Caches of the thread, which goes on, may still have what logs through it: that must not keep the data plane.
    this.#started = Promise.withResolvers();
    this.#started.resolve(null);
    this.#listeners.clear();
  }

  #emit(event: string, value: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        listener(value as never);
      } catch (error) {
        this.#options.failed(error);
      }
    }
  }
}
