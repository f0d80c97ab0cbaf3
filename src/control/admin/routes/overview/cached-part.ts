import { awaitWithTimeout } from '../../../../shared/util/time/await-with-timeout.ts';
import { monotonic } from '../../../../shared/util/time/clock.ts';

/** Milliseconds that a document waits for a part; later it contains what was read last. */
const readTimeout = 500;

/** A part of the overview that takes other servers or much time to read, shared by all who request it. */
export class CachedPart<T> {
  readonly #read: () => Promise<T>;
  readonly #maxAge: number;
  #value: T | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  /** `maxAge`: milliseconds. */
  constructor(maxAge: number, read: () => Promise<T>) {
    this.#maxAge = maxAge;
    this.#read = read;
  }

  /** Null: it could not be read in time, nor before. */
  async get(): Promise<T | null> {
    if (monotonic() - this.#readAt >= this.#maxAge) this.#reading ??= this.#refresh();
    if (this.#reading !== null) await awaitWithTimeout(this.#reading, readTimeout);
    return this.#value;
  }

  async #refresh(): Promise<void> {
    try {
      this.#value = await this.#read();
    } catch {
      // The value that was read last remains.
    } finally {
      this.#readAt = monotonic();
      this.#reading = null;
    }
  }
}
