import type { AnswerStore, FlightEnd, PurgeTarget, StoredEntry } from './answer-store.ts';

export interface MapStoreOptions {
  /** Answers come by promises, as those of Redis do. */
  readonly slow?: boolean;
}

/** A store of one process, for tests. */
export class MapStore implements AnswerStore {
  readonly entries = new Map<string, StoredEntry>();
  readonly flights = new Map<string, (() => void)[]>();
  /** All calls fail while it is set. */
  failure: Error | null = null;
  readonly #slow: boolean;

  constructor({ slow = false }: MapStoreOptions = {}) {
    this.#slow = slow;
  }

  get(key: string): StoredEntry | null | Promise<StoredEntry | null> {
    return this.#answer(() => {
      const entry = this.entries.get(key);
      return entry === undefined || entry.expires <= Date.now() ? null : { ...entry };
    });
  }

  put(key: string, entry: StoredEntry): boolean | Promise<boolean> {
    return this.#answer(() => {
      this.entries.set(key, { ...entry, body: Buffer.from(entry.body) });
      return true;
    });
  }

  purge(target: PurgeTarget): number | Promise<number> {
    return this.#answer(() => {
      let count = 0;
      for (const [key, { tags, url }] of this.entries) {
        const chosen =
          target === 'all' ||
          ('key' in target && target.key === key) ||
          ('tag' in target && tags.includes(target.tag)) ||
          ('prefix' in target && url.startsWith(target.prefix)) ||
          'instance' in target;
        if (chosen && this.entries.delete(key)) count++;
      }
      return count;
    });
  }

  board(key: string): ReturnType<AnswerStore['board']> {
    return this.#answer(() => {
      const waiting = this.flights.get(key);
      if (waiting === undefined) {
        this.flights.set(key, []);
        return null;
      }
      return (wait: number) =>
        new Promise<FlightEnd>((resolve) => {
          const timer = setTimeout(() => resolve('late'), wait);
          waiting.push(() => {
            clearTimeout(timer);
            resolve('done');
          });
        });
    });
  }

  land(key: string): void {
    const waiting = this.flights.get(key) ?? [];
    this.flights.delete(key);
    for (const tell of waiting) tell();
  }

  close(): void {}

  #answer<T>(work: () => T): T | Promise<T> {
    const { failure } = this;
    if (failure !== null) return Promise.reject(failure);
    const value = work();
    return this.#slow ? Promise.resolve(value) : value;
  }
}
