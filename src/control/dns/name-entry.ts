import type { NameState } from './types.ts';

/** Milliseconds for which a name without a watch is refreshed after its last lookup. */
const idleTime = 3_600_000;

/** The table's entry of a name. */
export class NameEntry {
  readonly name: string;
  state: NameState | null = null;
  /** The refresh in progress. */
  asking: Promise<NameState> | null = null;
  watchers = 0;
  /** Monotonic time of the last lookup; 0: none. */
  lookedUp = 0;
  /** Failed refreshes in a row. */
  failures = 0;
  /** Monotonic time until which the addresses may be used without a new answer. */
  staleUntil = 0;
  /** Monotonic time until which a failure is an answer. */
  failedUntil = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(name: string) {
    this.name = name;
  }

  /** The name is not in use any more. */
  isIdle(now: number): boolean {
    return this.watchers === 0 && (this.lookedUp === 0 || now - this.lookedUp > idleTime);
  }

  /** Calls back once; replaces an earlier timer. Keeps no process alive. */
  wake(delay: number, due: () => void): void {
    this.sleep();
    this.#timer = setTimeout(due, delay);
    this.#timer.unref();
  }

  sleep(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
