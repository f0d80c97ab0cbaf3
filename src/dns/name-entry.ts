import type { NameState } from './types.ts';

/** A name that nobody watches is kept fresh for so long after it was last looked up, in milliseconds. */
const idleTime = 3_600_000;

/** What the table keeps of a name. */
export class NameEntry {
  readonly name: string;
  state: NameState | null = null;
  /** The refresh under way. */
  asking: Promise<NameState> | null = null;
  watchers = 0;
  /** Monotonic time of the last look-up; 0: there was none. */
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

  /** Nobody needs the name any more. */
  isIdle(now: number): boolean {
    return this.watchers === 0 && (this.lookedUp === 0 || now - this.lookedUp > idleTime);
  }

  /** Calls back once, in place of any earlier setting. Keeps no process alive. */
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
