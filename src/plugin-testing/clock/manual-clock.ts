import { setImmediate as nextTurn } from 'node:timers/promises';
import { ClockTimer } from './clock-timer.ts';

/** Turns of the event loop without anything to do after which what was caused has happened. */
const quietTurns = 8;
/** Real milliseconds that work in other threads (compression, hashes) has before `until` moves the time on. */
const patience = 5;

/** The functions of this thread before any clock replaced them. */
const { now: realNow } = Date;
const realMonotonic = performance.now.bind(performance);
const realTimeout = setTimeout;

/** The time of one gateway. It stands still until it is moved. */
export class ManualClock {
  /** Counts what happens, so that a quiet gateway can be recognized. */
  activity = 0;
  /** Each timer keeps the stack of the code that sets it. */
  traced = false;
  readonly #started: number;
  /** Whole, so that sums of it are exact: a deadline must not be a rounding error later than its timer. */
  readonly #monotonicStart = Math.floor(realMonotonic());
  #passed = 0;
  #timers: ClockTimer[] = [];
  readonly #enter: (work: () => void) => void;

  /** `start`: milliseconds since the epoch. `enter` runs code in the time of this clock. */
  constructor(start: number | null, enter: (work: () => void) => void) {
    this.#started = start ?? realNow();
    this.#enter = enter;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return Math.floor(this.#started + this.#passed);
  }

  /** `performance.now()`. */
  monotonic(): number {
    return this.#monotonicStart + this.#passed;
  }

  /** Milliseconds since its start. */
  get passed(): number {
    return this.#passed;
  }

  /** Timers that have not fired, the next one first. */
  get timers(): readonly ClockTimer[] {
    return this.#timers;
  }

  add(callback: () => void, delay: number, repeats: boolean): ClockTimer {
    const wait = Number.isFinite(delay) && delay >= 1 && delay <= 2_147_483_647 ? Math.floor(delay) : 1;
    const timer = new ClockTimer(this, callback, wait, repeats);
    if (this.traced) timer.stack = new Error('set here').stack ?? null;
    this.arm(timer);
    return timer;
  }

  /** @internal */
  arm(timer: ClockTimer): void {
    this.disarm(timer);
    timer.due = this.#passed + timer.delay;
    const before = this.#timers.findIndex((other) => other.due > timer.due);
    this.#timers.splice(before < 0 ? this.#timers.length : before, 0, timer);
  }

  /** @internal */
  disarm(timer: ClockTimer): void {
    const at = this.#timers.indexOf(timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }

  /** Moves the time on and fires the timers that are due, in their order; what they cause happens in between. */
  async advance(milliseconds: number): Promise<void> {
    if (!(milliseconds >= 0)) throw new RangeError('a clock is advanced by 0 ms or more');
    const end = this.#passed + milliseconds;
    await this.settle();
    for (let next = this.#timers[0]; next !== undefined && next.due <= end; next = this.#timers[0]) {
      this.#fireAt(next.due);
      await this.settle();
    }
    this.#passed = end;
    await this.settle();
  }

  /** Moves the time on from timer to timer until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => {
      settled = true;
    };
    promise.then(mark, mark);
    let active = true;
    while (!settled) {
      if (await this.quiet()) active = true;
      if (settled) break;
      // A timer that only looks after something, such as the check for overload, gives other threads nothing to do.
      if (active) {
        await new Promise((resolve) => realTimeout(resolve, patience));
        active = await this.quiet();
        if (active) continue;
      }
      const next = this.#timers[0];
      if (settled) break;
      if (next !== undefined) this.#fireAt(next.due);
      else active = true;
    }
    return promise;
  }

  /** Resolves when nothing more happens without the time moving on. */
  async settle(): Promise<void> {
    await this.quiet();
  }

  /** The same: whether anything has happened meanwhile. */
  async quiet(): Promise<boolean> {
    const begun = this.activity;
    let quiet = 0;
    for (let turns = 0; quiet < quietTurns && turns < 100_000; turns++) {
      const before = this.activity;
      await nextTurn();
      quiet = this.activity === before ? quiet + 1 : 0;
    }
    return this.activity !== begun;
  }

  #fireAt(time: number): void {
    this.#passed = Math.max(this.#passed, time);
    for (;;) {
      const timer = this.#timers[0];
      if (timer === undefined || timer.due > time) return;
      this.#timers.shift();
      if (timer.repeats) this.arm(timer);
      this.#enter(timer.callback);
    }
  }

  /** Removes all timers. */
  clear(): void {
    this.#timers = [];
  }
}
