import type { ServerHttp2Stream } from 'node:http2';
import { monotonic } from '../util/clock.ts';
import { Deadline } from '../util/deadlines.ts';

/**
 * Waits for a client that does not take what was written on its stream. One that takes a long answer slowly has time as
 * long as it takes something: a piece of at most 64 KiB within the time.
 */
export class SlowReader {
  readonly #stream: ServerHttp2Stream;
  readonly #timeout: number;
  readonly #drained: () => void;
  readonly #deadline: Deadline;
  #unsent = 0;

  /** `timeout`: milliseconds. `drained`: it takes more; `stalled`: it took nothing for the time. */
  constructor(stream: ServerHttp2Stream, timeout: number, drained: () => void, stalled: () => void) {
    this.#stream = stream;
    this.#timeout = timeout;
    this.#drained = drained;
    this.#deadline = new Deadline(() => {
      if (this.#stream.writableLength === this.#unsent) stalled();
      else this.#watch();
    });
  }

  /** The stream has said that it takes no more for now. */
  wait(): void {
    if (this.#deadline.pending) return;
    this.#stream.once('drain', () => {
      this.#deadline.clear();
      this.#drained();
    });
    this.#watch();
  }

  clear(): void {
    this.#deadline.clear();
  }

  #watch(): void {
    this.#unsent = this.#stream.writableLength;
    this.#deadline.set(this.#timeout, monotonic());
  }
}
