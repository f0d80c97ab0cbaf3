/** What holds the timers of a clock. */
interface TimerOwner {
  arm(timer: ClockTimer): void;
  disarm(timer: ClockTimer): void;
}

/** What `setTimeout` and `setInterval` return to code whose time is a clock. It keeps no process alive. */
export class ClockTimer {
  readonly callback: () => void;
  /** Milliseconds. */
  readonly delay: number;
  readonly repeats: boolean;
  /** Time at which it fires, on its clock. */
  due = 0;
  /** Of the code that set it, if the clock keeps it. */
  stack: string | null = null;
  readonly #owner: TimerOwner;
  #referenced = true;

  constructor(owner: TimerOwner, callback: () => void, delay: number, repeats: boolean) {
    this.#owner = owner;
    this.callback = callback;
    this.delay = delay;
    this.repeats = repeats;
  }

  /** Cancels it. */
  close(): this {
    this.#owner.disarm(this);
    return this;
  }

  refresh(): this {
    this.#owner.arm(this);
    return this;
  }

  ref(): this {
    this.#referenced = true;
    return this;
  }

  unref(): this {
    this.#referenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.#referenced;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
