import { type Store, StoreError } from '../../control/store/store.ts';
import type { ErrorLog } from '../../shared/logs/error-log.ts';
import type { Settings } from '../../shared/settings/settings.ts';

/** Milliseconds between two searches for expired rows. */
const interval = 5000;

/** Maximum rounds of removal in one run: limits by the second leave many counters behind. */
const counterRounds = 200;

/** Maximum rounds of removal of audit records in one run. */
const auditRounds = 20;

/** Maximum rounds of removal of versions of the config in one run. */
const historyRounds = 20;

/** Removes expired rows, counters, audit records and versions of the config. */
export class ExpiryJob {
  readonly #store: Store;
  readonly #log: ErrorLog;
  readonly #settings: Pick<Settings, 'audit' | 'configHistory'>;
  readonly #timer: NodeJS.Timeout;
  #running = false;

  constructor(store: Store, log: ErrorLog, settings: Pick<Settings, 'audit' | 'configHistory'>) {
    this.#store = store;
    this.#log = log;
    this.#settings = settings;
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
      await this.#trimHistory();
    } catch (error) {
      const unavailable = error instanceof StoreError && error.detail.kind === 'unavailable';
      if (!unavailable) this.#log.error('expired rows cannot be removed', { err: error });
    } finally {
      this.#running = false;
    }
  }

  async #trimAudit(): Promise<void> {
    const { retention } = this.#settings.audit;
    if (retention === 0) return;
    const before = Date.now() - retention;
    for (let round = 0; round < auditRounds; round++) {
      if ((await this.#store.deleteAudit(before)) === 0) return;
    }
  }

  async #trimHistory(): Promise<void> {
    const { versions, retention } = this.#settings.configHistory;
    const limits = { keep: versions, before: retention === 0 ? 0 : Date.now() - retention };
    for (let round = 0; round < historyRounds; round++) {
      if ((await this.#store.trimHistory(limits)) === 0) return;
    }
  }
}
