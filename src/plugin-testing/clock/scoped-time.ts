import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { useTimeScopes } from '../../shared/util/time/time-scopes.ts';
import { ClockTimer } from './clock-timer.ts';
import { clockedDate } from './clocked-date.ts';
import type { ManualClock } from './manual-clock.ts';

/*
 * The time of a test gateway is a clock that the test moves, and code of plugins and of the gateway reads it with the usual functions. So
 * these functions are replaced while a gateway with such a clock is open. They look up whose code runs (`AsyncLocalStorage`): outside of
 * such gateways they are the original ones, so that the runner, the test and other gateways keep their own time.
 */

const scopes = new AsyncLocalStorage<ManualClock>();

/** Runs code whose time is this clock, with all that follows from it. */
export function inTimeOf<T>(clock: ManualClock, work: () => T): T {
  clock.activity++;
  return scopes.run(clock, work);
}

type Callable = (...given: never[]) => unknown;

interface Replacement {
  readonly holder: object;
  readonly name: string;
  readonly original: PropertyDescriptor | undefined;
  readonly value: unknown;
}

let users = 0;
let replaced: Replacement[] = [];

/** Call it for each clock that begins to be used; returns what to call when it ends. */
export function scopeTime(): () => void {
  if (users++ === 0) replaceAll();
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    if (--users === 0) restoreAll();
  };
}

function replaceAll(): void {
  const timers = createRequire(import.meta.url)('node:timers') as Record<string, Callable>;
  const promises = createRequire(import.meta.url)('node:timers/promises') as Record<string, Callable>;
  const own = timerFunctions(timers as unknown as TimerFunctions);
  for (const holder of [globalThis, timers])
    for (const [name, value] of Object.entries(own)) replace(holder, name, value);
  replace(promises, 'setTimeout', waiting(promises['setTimeout'] as never));
  replace(
    globalThis,
    'Date',
    clockedDate(Date, () => scopes.getStore()?.now() ?? null),
  );
  const realNow = performance.now.bind(performance);
  replace(performance, 'now', () => scopes.getStore()?.monotonic() ?? realNow());
  replace(process, 'hrtime', clockedHrtime(process.hrtime));
  useTimeScopes({
    current: () => scopes.getStore() ?? null,
    bind: (work) => {
      const clock = scopes.getStore();
      return clock === undefined ? () => scopes.exit(work) : () => inTimeOf(clock, work);
    },
  });
  syncBuiltinESMExports();
}

/** Another library may have replaced a function since: what it has then still leads to the original one. */
function restoreAll(): void {
  for (const { holder, name, original, value } of replaced.toReversed()) {
    if ((holder as Record<string, unknown>)[name] !== value) continue;
    if (original === undefined) delete (holder as Record<string, unknown>)[name];
    else Object.defineProperty(holder, name, original);
  }
  replaced = [];
  useTimeScopes(null);
  syncBuiltinESMExports();
}

function replace(holder: object, name: string, value: unknown): void {
  const original = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: original?.enumerable ?? false,
  });
  replaced.push({ holder, name, original, value });
}

interface TimerFunctions {
  readonly setTimeout: (callback: (...given: unknown[]) => void, delay?: number, ...given: unknown[]) => unknown;
  readonly setInterval: (callback: (...given: unknown[]) => void, delay?: number, ...given: unknown[]) => unknown;
  readonly clearTimeout: (timer: unknown) => void;
  readonly clearInterval: (timer: unknown) => void;
}

function timerFunctions(original: TimerFunctions): TimerFunctions {
  const { setTimeout: realTimeout, setInterval: realInterval, clearTimeout, clearInterval } = original;
  const setter =
    (real: TimerFunctions['setTimeout'], repeats: boolean): TimerFunctions['setTimeout'] =>
    (callback, delay = 1, ...given) => {
      const clock = scopes.getStore();
      if (clock === undefined || typeof callback !== 'function') return real(callback, delay, ...given);
      // What a timer does belongs to where it was set, as with the original functions.
      const bound = AsyncLocalStorage.bind(() => callback(...given));
      return clock.add(bound, Number(delay), repeats);
    };
  const clearer = (real: (timer: unknown) => void) => (timer: unknown) => {
    if (timer instanceof ClockTimer) timer.close();
    else real(timer);
  };
  return {
    setTimeout: withPromise(setter(realTimeout, false), realTimeout),
    setInterval: setter(realInterval, true),
    clearTimeout: clearer(clearTimeout),
    clearInterval: clearer(clearInterval),
  };
}

/** `util.promisify(setTimeout)` uses a property of the function. */
function withPromise<T extends object>(made: T, original: T): T {
  const custom = Symbol.for('nodejs.util.promisify.custom');
  const real = Reflect.get(original, custom) as ((delay: number, value?: unknown) => Promise<unknown>) | undefined;
  if (real !== undefined) Reflect.defineProperty(made, custom, { value: waiting(real as never), configurable: true });
  return made;
}

type Wait = (delay?: number, value?: unknown, options?: { readonly signal?: AbortSignal }) => Promise<unknown>;

function waiting(real: Wait): Wait {
  return (delay, value, options) => {
    const clock = scopes.getStore();
    if (clock === undefined) return real(delay, value, options);
    const signal = options?.signal;
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        timer.close();
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      const timer = clock.add(
        AsyncLocalStorage.bind(() => {
          signal?.removeEventListener('abort', abort);
          resolve(value);
        }),
        Number(delay ?? 1),
        false,
      );
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  };
}

function clockedHrtime(real: NodeJS.HRTime): NodeJS.HRTime {
  const hrtime = (before?: [number, number]): [number, number] => {
    const clock = scopes.getStore();
    if (clock === undefined) return real(before);
    const total = BigInt(Math.round(clock.monotonic() * 1e6));
    const passed = before === undefined ? total : total - BigInt(before[0]) * 1_000_000_000n - BigInt(before[1]);
    return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)];
  };
  const bigint = (): bigint => {
    const clock = scopes.getStore();
    return clock === undefined ? real.bigint() : BigInt(Math.round(clock.monotonic() * 1e6));
  };
  return Object.assign(hrtime, { bigint });
}
