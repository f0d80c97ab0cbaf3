import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds between two samples. They are taken without JavaScript. */
const resolution = 20;

/** How late the timers of this thread run. */
export class LoopDelay {
  readonly #samples = monitorEventLoopDelay({ resolution });

  constructor() {
    this.#samples.enable();
  }

  /** The 99th percentile since the last call, in milliseconds. */
  take(): number {
    const samples = this.#samples;
    // A sample is the time between two timers.
    const delay = samples.count === 0 ? 0 : Math.max(0, samples.percentile(99) / 1e6 - resolution);
    samples.reset();
    return delay;
  }
}
