/** Milliseconds without a failure after which an outage is over, and between two lines while it lasts. */
const quietTime = 10_000;
const reportInterval = 60_000;
/** Maximum reasons of one outage that are logged. */
const maxReasons = 5;

export interface OutageLines {
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface OutageLogOptions {
  readonly quietTime?: number;
  readonly reportInterval?: number;
  /** Fields of every line, such as the address of the server. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /**
   * The outage ends only after `succeeded` was called, however long no attempt failed: for servers that are called at intervals
   * longer than the quiet time.
   */
  readonly untilSuccess?: boolean;
}

/**
 * Logs failures of a shared dependency (a database, Redis, a directory) as one outage: a line when it begins, one a
 * minute with the number of failures while it lasts, and one when there has been no failure for ten seconds. Each
 * further reason gets one line, up to five.
 */
export class OutageLog {
  readonly #log: OutageLines;
  readonly #message: string;
  readonly #quietTime: number;
  readonly #reportInterval: number;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #untilSuccess: boolean;
  readonly #reasons = new Set<string>();
  #active = false;
  #begunAt = 0;
  #lastAt = 0;
  #succeededAt = 0;
  #reportedAt = 0;
  #failures = 0;
  /** Runs while the outage can end. */
  #timer: NodeJS.Timeout | null = null;

  /** `message`: what fails, such as `the counters are unavailable`. */
  constructor(log: OutageLines, message: string, options: OutageLogOptions = {}) {
    this.#log = log;
    this.#message = message;
    this.#quietTime = options.quietTime ?? quietTime;
    this.#reportInterval = options.reportInterval ?? reportInterval;
    this.#fields = options.fields ?? {};
    this.#untilSuccess = options.untilSuccess ?? false;
  }

  /** True from the first failure until the line that ends the outage. */
  get active(): boolean {
    return this.#active;
  }

  /** `fields` are added to the line of a new reason. */
  failed(error: unknown, fields: Readonly<Record<string, unknown>> = {}): void {
    const now = performance.now();
    const reason = error instanceof Error ? error.message : String(error);
    if (!this.#active) this.#begin(now);
    if (!this.#untilSuccess) this.#watch();
    this.#lastAt = now;
    this.#failures++;
    if (this.#reasons.size < maxReasons && !this.#reasons.has(reason)) {
      this.#reasons.add(reason);
      this.#log.error(this.#message, { reason, ...this.#fields, ...fields });
    } else if (now - this.#reportedAt >= this.#reportInterval) {
      this.#reportedAt = now;
      const failures = this.#failures;
      this.#log.error(`outage continues: ${this.#message}`, { reason, failures, ...this.#fields });
    }
  }

  /** An attempt succeeded. One comparison when there is no outage. */
  succeeded(): void {
    if (!this.#active) return;
    this.#succeededAt = performance.now();
    this.#watch();
  }

  #begin(now: number): void {
    this.#active = true;
    this.#begunAt = now;
    this.#reportedAt = now;
    this.#failures = 0;
    this.#reasons.clear();
  }

  #watch(): void {
    this.#timer ??= setInterval(() => this.#check(), this.#quietTime / 2).unref();
  }

  #check(): void {
    const isQuiet = performance.now() - this.#lastAt >= this.#quietTime;
    if (this.#untilSuccess && this.#succeededAt < this.#lastAt) this.#stopTimer();
    else if (isQuiet) this.#end();
  }

  #end(): void {
    this.#stopTimer();
    this.#active = false;
    const seconds = Math.round((this.#lastAt - this.#begunAt) / 1000);
    this.#log.warn(`outage over: ${this.#message}`, { failures: this.#failures, seconds, ...this.#fields });
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
