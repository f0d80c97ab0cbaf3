/** Spins before the thread sleeps: the holder needs microseconds, unless it was preempted. */
const spins = 500;
/** Milliseconds between attempts afterwards. */
const sleepTime = 0.05;

/**
 * A lock in shared memory. The word holds the number of its owner, so that it can be released when that thread has
 * ended. Between `take` and `open` nothing may throw or wait.
 */
export class StoreLock {
  readonly #words: Int32Array;
  readonly #at: number;
  readonly #thread: number;

  constructor(words: Int32Array, at: number, thread: number) {
    this.#words = words;
    this.#at = at;
    this.#thread = thread;
  }

  /** False: it was not available within `timeout` milliseconds. */
  take(timeout: number): boolean {
    for (let tries = 0; tries < spins; tries++) if (this.#try()) return true;
    const end = performance.now() + timeout;
    while (performance.now() < end) {
      const holder = Atomics.load(this.#words, this.#at);
      if (holder !== 0) Atomics.wait(this.#words, this.#at, holder, sleepTime);
      if (this.#try()) return true;
    }
    return false;
  }

  /** Takes over the lock of a thread that has ended; false: that thread did not hold it. */
  inherit(thread: number): boolean {
    return Atomics.compareExchange(this.#words, this.#at, thread, this.#thread) === thread;
  }

  open(): void {
    Atomics.store(this.#words, this.#at, 0);
  }

  #try(): boolean {
    // Reads first: an exchange takes the cache line from the holder.
    return (
      Atomics.load(this.#words, this.#at) === 0 && Atomics.compareExchange(this.#words, this.#at, 0, this.#thread) === 0
    );
  }
}
