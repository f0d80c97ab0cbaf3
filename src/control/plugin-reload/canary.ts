import { setTimeout as wait } from 'node:timers/promises';
import type { CodeObservation, ObserveCodeMessage } from '../../shared/messages/plugin-code.ts';
import type { PluginProblem } from '../../shared/plugin-loader/trial/trial.ts';
import {
  CodeCount,
  codeCountsRow,
  createCodeCounts,
  otherCodeCounts,
  Returned,
} from '../../shared/zones/code-counts.ts';
import { failsMore } from '../../shared/zones/code-failures.ts';
import { Counter, workerCounters } from '../../shared/zones/counters.ts';
import type { WorkerHandle } from '../supervisor/worker-handle.ts';
import { isSlower } from './compare-code.ts';

export interface CanaryOptions {
  /** Shared memory of the counters of all workers. */
  readonly counters: SharedArrayBuffer;
  /** How many workers the node has. */
  readonly workers: number;
  /** Those that listen and respond. */
  readonly running: () => readonly WorkerHandle[];
  readonly stopping: AbortSignal;
}

/** What an observation has found. */
export interface Verdict {
  /** Null: the new code is not worse. */
  readonly reason: string | PluginProblem | null;
  /** Requests in which the plugins ran with the new code. */
  readonly requests: number;
}

/** Milliseconds between two looks at the counts. */
const lookInterval = 25;
/** Milliseconds in which the busiest worker is determined. */
const choiceTime = 200;
/** Milliseconds for which a plugin must be slower while the observation runs. */
const slowFor = 1000;
/** Milliseconds for which a single worker is observed with the old code first. */
const maxBaseline = 3000;

/** Observes one worker with new code of plugins, and compares it with the others, or with itself before. */
export class Canary {
  readonly #options: CanaryOptions;
  readonly #plugins: readonly string[];
  /** The counts while the new code runs. */
  #memory: SharedArrayBuffer | null = null;
  /** Of the single worker with the old code; null: there are others. */
  #baseline: readonly Uint32Array[] | null = null;
  /** Since when the code seems to be slower; null: it does not. */
  #slowSince: number | null = null;

  constructor(options: CanaryOptions, plugins: readonly string[]) {
    this.#options = options;
    this.#plugins = plugins;
  }

  /** The worker with the most requests, so that many judge the code; null: no worker runs. */
  async choose(): Promise<WorkerHandle | null> {
    const { counters, running } = this.#options;
    const requests = ({ number }: WorkerHandle): number => workerCounters(counters, number)[Counter.requests]!;
    const before = running().map((worker) => ({ worker, count: requests(worker) }));
    await wait(choiceTime);
    const live = new Set(running());
    const grown = before.map(({ worker, count }) => ({ worker, by: live.has(worker) ? requests(worker) - count : -1 }));
    const [first] = grown.toSorted((a, b) => b.by - a.by);
    return first === undefined || first.by < 0 ? null : first.worker;
  }

  /**
   * Call it before the worker gets the new code: where it is the only one, it is observed with the old one. Returns how the worker observes
   * the new code from its first request on. It returns to the old code by itself: each look from here would let more requests fail.
   */
  async before(worker: WorkerHandle, observe: number): Promise<CodeObservation> {
    if (this.#options.running().length === 1) {
      const memory = this.#begin();
      await this.#until(performance.now() + Math.min(observe, maxBaseline), () => false);
      this.#baseline = this.#plugins.map((_, at) => this.#row(memory, worker.number, at).slice());
    }
    this.#memory = createCodeCounts(this.#options.workers, this.#plugins.length);
    const observation = { memory: this.#memory, plugins: this.#plugins };
    for (const other of this.#options.running()) {
      if (other !== worker) other.post({ type: 'observe-code', observation });
    }
    return { ...observation, returnsFrom: this.#baseline ?? 'others' };
  }

  /** Observes the worker, which has the new code, for so many milliseconds, or until it is worse. */
  async observe(worker: WorkerHandle, observe: number): Promise<Verdict> {
    const { running, stopping } = this.#options;
    const memory = this.#memory;
    if (memory === null) throw new Error('call before() first');
    let reason: string | null = null;
    const look = (isEnd: boolean): boolean => {
      if (!running().includes(worker)) reason = `worker ${worker.number} ended or does not respond with the new code`;
      else if (stopping.aborted) reason = 'the node is stopping';
      else reason = this.#compare(memory, worker, isEnd);
      return reason !== null;
    };
    await this.#until(performance.now() + observe, () => look(false));
    if (reason === null) look(true);
    this.#send(null);
    const requests = this.#plugins.map((_, at) => this.#row(memory, worker.number, at)[CodeCount.requests]!);
    return { reason, requests: Math.max(0, ...requests) };
  }

  /** Call it when the observation does not take place after all. */
  end(): void {
    this.#send(null);
  }

  #compare(memory: SharedArrayBuffer, worker: WorkerHandle, isEnd: boolean): string | null {
    let slow: string | null = null;
    for (const [at, plugin] of this.#plugins.entries()) {
      const old = this.#baseline?.[at] ?? otherCodeCounts(memory, worker.number, this.#plugins.length, at);
      const next = this.#row(memory, worker.number, at);
      // The more requests the old code serves again, the rarer its failures seem.
      const failing = failsMore(next, old) ?? whyReturned(next, old);
      if (failing !== null) return `plugin '${plugin}': ${failing}`;
      const reason = isSlower(next, old, isEnd);
      if (reason !== null) slow ??= `plugin '${plugin}': ${reason}`;
    }
    if (slow === null) this.#slowSince = null;
    else this.#slowSince ??= performance.now();
    return isEnd || (this.#slowSince !== null && performance.now() - this.#slowSince >= slowFor) ? slow : null;
  }

  #row(memory: SharedArrayBuffer, worker: number, plugin: number): Uint32Array {
    return codeCountsRow(memory, worker, this.#plugins.length, plugin);
  }

  #begin(): SharedArrayBuffer {
    const memory = createCodeCounts(this.#options.workers, this.#plugins.length);
    this.#send({ memory, plugins: this.#plugins });
    return memory;
  }

  #send(observation: ObserveCodeMessage['observation']): void {
    for (const worker of this.#options.running()) worker.post({ type: 'observe-code', observation });
  }

  /** Resolves at `end`, or when `done` says so. */
  async #until(end: number, done: () => boolean): Promise<void> {
    while (performance.now() < end && !this.#options.stopping.aborted && !done()) {
      await wait(Math.min(lookInterval, Math.max(0, end - performance.now())));
    }
  }
}

/** Why the worker has returned to the old code by itself; null: it has not. The counts may have changed since. */
function whyReturned(next: Uint32Array, old: Uint32Array): string | null {
  const returned = next[CodeCount.returned];
  if (returned === Returned.failed) return 'the plugin failed more often';
  if (returned === Returned.slow)
    return isSlower(next, old, true) ?? "the gateway's own time is longer in most requests";
  return null;
}
