import type { AttemptOutcome, AttemptWatcher, RetryPolicy, UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { RuntimeUpstream } from '../snapshot/runtime.ts';

/** Milliseconds that a total timeout may expire late. */
const maxDelay = 10;

/** How plugins want one request to reach its backend, and the timers for it. Most requests have none. */
export class UpstreamPolicy {
  timeouts: UpstreamTimeouts | null = null;
  retries: RetryPolicy | null = null;
  /** Replaces the service's own. */
  upstream: RuntimeUpstream | null = null;
  /** `upstream` is the fallback for one without a usable address. */
  fellBack = false;
  readonly #watchers: AttemptWatcher[] = [];
  /** The attempt that has begun and has no outcome yet. */
  #open = false;
  #tryDeadline: Deadline | null = null;
  #totalDeadline: Deadline | null = null;
  #totalTimer: NodeJS.Timeout | null = null;
  #pause: NodeJS.Timeout | null = null;
  /** Null: every address may be used. */
  admits: ((target: RuntimeTarget) => boolean) | null = null;

  watch(watcher: AttemptWatcher): void {
    this.#watchers.push(watcher);
    if (watcher.admits === undefined) return;
    this.admits ??= (target) => this.#watchers.every((each) => each.admits === undefined || each.admits(target));
  }

  get needsOutcome(): boolean {
    return this.#watchers.length > 0 || this.retries !== null;
  }

  begun(target: RuntimeTarget): void {
    this.#open = true;
    for (const watcher of this.#watchers) watcher.begun?.(target);
  }

  ended(outcome: AttemptOutcome): void {
    if (!this.#open) return;
    this.#open = false;
    this.#tryDeadline?.clear();
    for (const watcher of this.#watchers) watcher.ended?.(outcome);
  }

  get attemptOpen(): boolean {
    return this.#open;
  }

  noAddress(): ReturnType<NonNullable<AttemptWatcher['noAddress']>> {
    for (const watcher of this.#watchers) {
      const way = watcher.noAddress?.() ?? null;
      if (way !== null) return way;
    }
    return null;
  }

  limitTry(milliseconds: number, now: number, expired: () => void): void {
    if (milliseconds <= 0) return;
    this.#tryDeadline?.clear();
    this.#tryDeadline = new Deadline(expired);
    this.#tryDeadline.set(milliseconds, now);
  }

  limitTotal(milliseconds: number, from: number, expired: () => void): void {
    if (milliseconds <= 0 || this.#totalDeadline !== null) return;
    const now = monotonic();
    const gone = now - from;
    this.#totalDeadline = new Deadline(expired);
    // Deadlines of one duration expire in the order in which they are set. One that began earlier needs a timer of its own.
    if (gone < maxDelay) this.#totalDeadline.set(milliseconds, now);
    else this.#totalTimer = setTimeout(expired, Math.max(1, milliseconds - gone));
  }

  wait(milliseconds: number, then: () => void): void {
    this.#pause = setTimeout(then, milliseconds);
  }

  /** The exchange is over. */
  close(): void {
    this.#tryDeadline?.clear();
    this.#totalDeadline?.clear();
    if (this.#totalTimer !== null) clearTimeout(this.#totalTimer);
    this.#totalTimer = null;
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#pause = null;
  }
}
