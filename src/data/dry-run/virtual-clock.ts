import { performance } from 'node:perf_hooks';

/**
 * The clock of a thread that repeats requests of the past: it stands still while a request is repeated, and shows the time at which
 * the request arrived. Only for a thread of its own, whose global clocks it replaces. Timers keep to the real time.
 */
export class VirtualClock {
  /** Milliseconds on the real monotonic clock. */
  readonly real: () => number;
  #now: number;

  /** `start`: milliseconds since the epoch. */
  constructor(start: number) {
    this.real = performance.now.bind(performance);
    this.#now = start;
    const { real } = this;
    const begun = real();
    const epoch = start - begun;
    const monotonic = (): number => this.#now - epoch;
    const RealDate = Date;
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, given, newTarget) =>
        Reflect.construct(target, given.length === 0 ? [this.#now] : given, newTarget),
      apply: () => new RealDate(this.#now).toString(),
      get: (target, name) => (name === 'now' ? () => Math.floor(this.#now) : Reflect.get(target, name)),
    });
    Object.defineProperty(performance, 'now', { value: monotonic });
    Object.defineProperty(performance, 'timeOrigin', { value: epoch });
    process.hrtime = Object.assign((before?: [number, number]): [number, number] => since(monotonic(), before), {
      bigint: () => BigInt(Math.round(monotonic() * 1e6)),
    });
  }

  /** Never goes back. */
  set(now: number): void {
    this.#now = Math.max(this.#now, now);
  }
}

function since(now: number, [seconds, nanoseconds]: [number, number] = [0, 0]): [number, number] {
  const passed = Math.max(0, now * 1e6 - (seconds * 1e9 + nanoseconds));
  return [Math.floor(passed / 1e9), Math.floor(passed % 1e9)];
}
