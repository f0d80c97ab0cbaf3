import { type Store, StoreError } from '../../control/store/store.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';

/** Milliseconds between two searches for expired rows. */
const interval = 5000;

/** Maximum rounds of removal in one run: limits by the second leave many counters behind. */
const counterRounds = 200;

/** Maximum rounds of removal of audit records in one run. */
const auditRounds = 20;

/** Removes expired rows, counters and audit records. */
export class ExpiryJob {
  readonly #store: Store;
  readonly #log: ErrorLog;
  readonly #auditRetention: number;
  readonly #timer: NodeJS.Timeout;
  #running = false;

  /** `auditRetention`: milliseconds; 0 keeps records forever. */
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
      // A read is far cheaper than a transaction, which blocks all writers.
      if (await this.#store.hasExpired()) await this.#store.write((writer) => writer.deleteExpired());
      // Each round is short, so that limits can be counted in between.
      for (let round = 0; round < counterRounds; round++) {
        if ((await this.#store.deleteExpiredCounters()) === 0) break;
      }
      await this.#trimAudit();
    } catch (error) {
      const unavailable = error instanceof StoreError && error.detail.kind === 'unavailable';
      if (!unavailable) this.#log.error('expired rows cannot be removed', { err: error });
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
