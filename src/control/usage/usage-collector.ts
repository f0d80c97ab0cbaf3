import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ToWorker } from '../../shared/messages/messages.ts';
import type { Usage } from '../../shared/usage/usage.ts';
import { UsageHalf } from '../../shared/usage/usage-memory.ts';
import type { UsageName } from '../../shared/usage/usage-name.ts';

/** Receives the counts of workers. */
export interface UsageSink {
  /** `minute`: when it began, milliseconds since the epoch. `key`: of series-key.ts. */
  add(minute: number, key: string, usage: Usage): void;
  names(names: readonly UsageName[]): void;
  /** Requests that workers could not count. */
  lost(requests: number): void;
}

export interface UsageCollectorOptions {
  /** The memory of each worker. */
  readonly memories: readonly SharedArrayBuffer[];
  /** Numbers of the workers that listen. */
  readonly running: () => readonly number[];
  readonly post: (worker: number, message: ToWorker) => void;
  readonly sink: UsageSink;
}

/** Blocks that are read in one step: some milliseconds. */
const blocksAtOnce = 250;

interface WorkerState {
  readonly halves: readonly [UsageHalf, UsageHalf];
  /** The half in which the worker counts, or was requested to count. */
  half: 0 | 1;
  /** Serial of the switch that the worker has not acknowledged; 0: none. */
  awaited: number;
  /** Block at which reading continues; -1: nothing is being read. */
  readAt: number;
}

/**
 * Moves the counts of workers out of shared memory. A worker is requested to switch to the other half of its memory. When it acknowledges,
 * the previous half is read and cleared, since nothing writes to it. So nothing is lost or counted twice, and no worker waits for another.
 */
export class UsageCollector {
  readonly #options: UsageCollectorOptions;
  readonly #workers: readonly WorkerState[];
  readonly #waiting = new Set<() => void>();
  #serial = 0;

  constructor(options: UsageCollectorOptions) {
    this.#options = options;
    this.#workers = options.memories.map((memory) => ({
      halves: [new UsageHalf(memory, 0), new UsageHalf(memory, 1)],
      half: 0,
      awaited: 0,
      readAt: -1,
    }));
  }

  /**
   * Collects everything that was counted until now; resolves when it is done, or when `timeout` milliseconds are over: the counts of a
   * blocked worker are collected when it answers.
   */
  async collect(timeout: number): Promise<void> {
    for (const number of this.#options.running()) this.#turn(number);
    if (this.#isIdle()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeout);
    const check = (): void => {
      if (this.#isIdle()) resolve();
    };
    this.#waiting.add(check);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(check);
  }

  /** A worker has acknowledged a switch. */
  turned(number: number, serial: number, names: readonly UsageName[]): void {
    this.#options.sink.names(names);
    const worker = this.#workers[number];
    // The counts of a worker that has died meanwhile have been read already.
    if (worker === undefined || serial === 0 || worker.awaited !== serial) return;
    worker.readAt = 0;
    void this.#read(worker, serial);
  }

  /** A worker has ended: all of its counts are collected. Its successor starts in the first half. */
  ended(number: number): void {
    const worker = this.#workers[number];
    if (worker === undefined) return;
    const idle = worker.halves[1 - worker.half]!;
    this.#take(idle, Math.max(0, worker.readAt), idle.used);
    this.#finish(idle);
    const active = worker.halves[worker.half];
    this.#take(active, 0, active.used);
    this.#finish(active);
    worker.half = 0;
    worker.awaited = 0;
    worker.readAt = -1;
    this.#check();
  }

  #turn(number: number): void {
    const worker = this.#workers[number];
    if (worker === undefined || worker.awaited !== 0) return;
    worker.awaited = ++this.#serial;
    worker.half = worker.half === 0 ? 1 : 0;
    this.#options.post(number, { type: 'usage-switch', serial: worker.awaited, half: worker.half });
  }

  async #read(worker: WorkerState, serial: number): Promise<void> {
    const half = worker.halves[1 - worker.half]!;
    const { used } = half;
    while (worker.readAt < used) {
      const end = Math.min(used, worker.readAt + blocksAtOnce);
      this.#take(half, worker.readAt, end);
      worker.readAt = end;
      if (end === used) break;
      await nextTurn();
      // It has ended meanwhile, and the rest has been read.
      if (worker.awaited !== serial) return;
    }
    this.#finish(half);
    worker.readAt = -1;
    worker.awaited = 0;
    this.#check();
  }

  #take(half: UsageHalf, first: number, end: number): void {
    for (let block = first; block < end; block++) {
      this.#options.sink.add(half.minute(block), half.key(block), half.usage(block));
    }
  }

  #finish(half: UsageHalf): void {
    if (half.lost > 0) this.#options.sink.lost(half.lost);
    half.clear();
  }

  #isIdle(): boolean {
    return this.#workers.every((worker) => worker.awaited === 0);
  }

  #check(): void {
    for (const check of [...this.#waiting]) check();
  }
}
