import type { ErrorLog } from '../observability/error-log.ts';
import { type Store, StoreError } from '../store/store.ts';

/** Time between two looks for what has expired, in milliseconds. */
const interval = 5000;

/** Limits by the second leave many counters behind; so many rounds of removal at most each time. */
const counterRounds = 200;

/** So many rounds of removal of audit records at most each time. */
const auditRounds = 20;

/** Removes what is kept for a time, once that is over: rows, counters, audit records. */
export class ExpiryJob {
  readonly #store: Store;
  readonly #log: ErrorLog;
  readonly #auditRetention: number;
  readonly #timer: NodeJS.Timeout;
  #running = false;

  /** `auditRetention`: milliseconds; 0 keeps records for ever. */
  constructor(store: Store, log: ErrorLog, auditRetention: number) {
    this.#store = store;
    this.#log = log;
    this.#auditRetention = auditRetention;
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
      await this.#trimAudit();
    } catch (error) {
      const away = error instanceof StoreError && error.detail.kind === 'unavailable';
      if (!away) this.#log.error('what has expired cannot be removed', { err: error });
    } finally {
      this.#running = false;
    }
  }

  async #trimAudit(): Promise<void> {
    if (this.#auditRetention === 0) return;
    const before = Date.now() - this.#auditRetention;
    for (let round = 0; round < auditRounds; round++) {
      if ((await this.#store.deleteAudit(before)) === 0) return;
    }
  }
}
