import { BoundedCache } from '../../plugin-sdk/index.ts';

/** Milliseconds within which a request that has looked boards its flight. */
const span = 1000;

interface Look {
  readonly sum: Uint8Array | string;
  /** Monotonic. */
  readonly end: number;
}

/**
 * What requests of this worker saw when they looked for an entry. A flight may land between the look and the boarding: the
 * oldest look of late tells. One that looks again for nothing loses a round trip, one that leads for nothing asks the backend.
 */
export class LastLooks {
  readonly #looks = new BoundedCache<string, Look>(4096);

  /** `sum`: the checksum of the entry, '' for none. */
  saw(key: string, sum: Uint8Array | string): void {
    const known = this.#looks.get(key);
    const now = performance.now();
    if (known === undefined || known.end < now) this.#looks.set(key, { sum, end: now + span });
  }

  seen(key: string): Uint8Array | string {
    return this.#looks.get(key)?.sum ?? '';
  }

  /** There is something else by now. */
  forget(key: string): void {
    this.#looks.delete(key);
  }
}
