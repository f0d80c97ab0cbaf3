/** Milliseconds without a failure after which an outage is over, and between two lines while it lasts. */
const quietTime = 10_000;
const reportInterval = 60_000;
/** Reasons of one outage that are logged. */
const mostReasons = 5;

export interface OutageLines {
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface OutageLogOptions {
  readonly quietTime?: number;
  readonly reportInterval?: number;
}

/**
 * Logs failures of something that many requests share (a database, Redis, a directory) as one outage: a line when it begins, one
 * a minute with the number of failures while it lasts, and one when there has been no failure for ten seconds. A further reason
 * has a line of its own, up to a few.
 */
export class OutageLog {
  readonly #log: OutageLines;
  readonly #message: string;
  readonly #quietTime: number;
  readonly #reportInterval: number;
  #reason = '';
  readonly #reasons = new Set<string>();
  #begunAt = 0;
  #lastAt = 0;
  #reportedAt = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `message`: what fails, as `the counters cannot be reached`. */
  constructor(log: OutageLines, message: string, options: OutageLogOptions = {}) {
    this.#log = log;
    this.#message = message;
    this.#quietTime = options.quietTime ?? quietTime;
    this.#reportInterval = options.reportInterval ?? reportInterval;
  }

  /** `fields` go into the first line of a reason. */
  failed(error: unknown, fields: Readonly<Record<string, unknown>> = {}): void {
    const now = performance.now();
    this.#reason = error instanceof Error ? error.message : String(error);
    this.#lastAt = now;
    this.#failures++;
    if (this.#timer !== null) {
      this.#logFurther(fields);
      return;
    }
    this.#begunAt = now;
    this.#reasons.clear();
    this.#reasons.add(this.#reason);
    this.#reportedAt = now;
    this.#timer = setInterval(() => this.#look(), this.#quietTime / 2).unref();
    this.#log.error(this.#message, { reason: this.#reason, ...fields });
  }

  #logFurther(fields: Readonly<Record<string, unknown>>): void {
    if (this.#reasons.size >= mostReasons || this.#reasons.has(this.#reason)) return;
    this.#reasons.add(this.#reason);
    this.#log.error(this.#message, { reason: this.#reason, ...fields });
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#lastAt >= this.#quietTime) {
      if (this.#timer !== null) clearInterval(this.#timer);
      this.#timer = null;
      const seconds = Math.round((this.#lastAt - this.#begunAt) / 1000);
      this.#log.warn(`outage over: ${this.#message}`, { failures: this.#failures, seconds });
      this.#failures = 0;
    } else if (now - this.#reportedAt >= this.#reportInterval) {
      this.#reportedAt = now;
      this.#log.error(`outage goes on: ${this.#message}`, { reason: this.#reason, failures: this.#failures });
    }
  }
}
