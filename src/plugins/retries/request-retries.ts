import type { AttemptOutcome, RetryPolicy } from '../../plugin-sdk/index.ts';
import type { RetryBudget } from './retry-budget.ts';

/** The compiled configuration of an instance. */
export interface RetryRules {
  readonly retries: number;
  readonly onConnectFailure: boolean;
  readonly onTimeout: boolean;
  readonly onBrokenAnswer: boolean;
  /** Empty: responses are final. */
  readonly statuses: ReadonlySet<number>;
  readonly methods: ReadonlySet<string>;
  readonly tryTimeout: number;
  readonly backoff: number;
  readonly backoffMax: number;
  readonly deadlineHeader: string | null;
  readonly budget: RetryBudget;
  count(name: 'retried' | 'budget_spent' | 'exhausted'): void;
}

/** The retries of one request. */
export class RequestRetries implements RetryPolicy {
  readonly #rules: RetryRules;
  readonly #service: string;
  /** The request is counted as live. */
  readonly #counted: boolean;
  #holdsPlace = false;
  #made = 0;

  constructor(rules: RetryRules, service: string) {
    this.#rules = rules;
    this.#service = service;
    this.#counted = rules.budget.enter(service);
  }

  get tryTimeout(): number {
    return this.#rules.tryTimeout;
  }

  get deadlineHeader(): string | null {
    return this.#rules.deadlineHeader;
  }

  /** Retries made so far. */
  get made(): number {
    return this.#made;
  }

  next(outcome: AttemptOutcome): number | null {
    this.#release();
    const rules = this.#rules;
    if (!this.#worthwhile(outcome)) return null;
    if (this.#made >= rules.retries) {
      if (rules.retries > 0) rules.count('exhausted');
      return null;
    }
    if (!rules.budget.acquire(this.#service)) {
      rules.count('budget_spent');
      return null;
    }
    this.#holdsPlace = true;
    rules.count('retried');
    const longest = Math.min(rules.backoffMax, rules.backoff * 2 ** this.#made);
    this.#made++;
    // Full jitter, so that requests that failed together do not retry together.
    return Math.random() * longest;
  }

  /** The request is over. */
  close(): void {
    this.#release();
    if (this.#counted) this.#rules.budget.leave(this.#service);
  }

  #worthwhile({ result, status, sent, method }: AttemptOutcome): boolean {
    const rules = this.#rules;
    if (sent && !rules.methods.has(method)) return false;
    switch (result) {
      case 'connect-failed':
        return rules.onConnectFailure;
      case 'connect-timeout':
        return rules.onConnectFailure || rules.onTimeout;
      case 'send-timeout':
      case 'first-byte-timeout':
      case 'try-timeout':
        return rules.onTimeout;
      case 'closed':
      case 'bad-answer':
        return rules.onBrokenAnswer;
      case 'answered':
        return rules.statuses.has(status);
      default:
        return false;
    }
  }

  #release(): void {
    if (!this.#holdsPlace) return;
    this.#holdsPlace = false;
    this.#rules.budget.release(this.#service);
  }
}
