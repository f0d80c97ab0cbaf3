import type { ErrorLog } from '../observability/error-log.ts';
import { type Store, StoreError } from '../store/store.ts';

/** Time between two looks for what has expired, in milliseconds. */
const interval = 5000;

/** Limits by the second leave many counters behind; so many rounds of removal at most each time. */
const counterRounds = 200;

/** Removes rows and counters whose time is over. They are never read anyway; this gives back their room. */
export class ExpiryJob {
  readonly #store: Store;
  readonly #log: ErrorLog;
  readonly #timer: NodeJS.Timeout;
  #running = false;

  constructor(store: Store, log: ErrorLog) {
    this.#store = store;
    this.#log = log;
    this.#timer = setInterval(() => void this.run(), interval).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      // Looking is far cheaper than a transaction in which all writers wait.
      if (await this.#store.hasExpired()) await this.#store.write((writer) => writer.deleteExpired());
      // Each round is short, so that those who count get their turn in between.
      for (let round = 0; round < counterRounds; round++) {
        if ((await this.#store.deleteExpiredCounters()) === 0) break;
      }
    } catch (error) {
      const away = error instanceof StoreError && error.detail.kind === 'unavailable';
      if (!away) this.#log.error('expired entities cannot be removed', { err: error });
    } finally {
      this.#running = false;
    }
  }
}
