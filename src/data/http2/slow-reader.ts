import type { ServerHttp2Stream } from 'node:http2';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';

/**
 * Waits for a client that does not read what was written on its stream. A client that reads a long response slowly is
 * accepted as long as it makes progress: a piece of at most 64 KiB within the time.
 */
export class SlowReader {
  readonly #stream: ServerHttp2Stream;
  readonly #timeout: number;
  readonly #drained: () => void;
  readonly #deadline: Deadline;
  #unsent = 0;

  /** `timeout`: milliseconds. `drained`: the client reads again; `stalled`: it read nothing for the time. */
  constructor(stream: ServerHttp2Stream, timeout: number, drained: () => void, stalled: () => void) {
    this.#stream = stream;
    this.#timeout = timeout;
    this.#drained = drained;
    this.#deadline = new Deadline(() => {
      if (this.#stream.writableLength === this.#unsent) stalled();
      else this.#watch();
    });
  }

  /** The stream has reported that its buffer is full. */
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
