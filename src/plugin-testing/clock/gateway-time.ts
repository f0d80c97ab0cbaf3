import { AsyncLocalStorage } from 'node:async_hooks';
import type { TestClock, TestGatewayOptions } from '../gateway/options.ts';
import { ManualClock } from './manual-clock.ts';
import { inTimeOf, scopeTime } from './scoped-time.ts';

/** The time of a gateway, and how code gets into it. */
export interface GatewayTime {
  readonly clock: TestClock;
  /** Runs the code of the gateway. */
  run<T>(work: () => T): T;
  /** What the gateway waits for, for messages. */
  why(): string;
  /** Timers that have not fired; none of the real clock. */
  timers(): readonly { readonly stack: string | null }[];
  /** Each timer keeps the stack of the code that sets it. */
  traceTimers(): void;
  end(): void;
}

export function gatewayTime(kind: NonNullable<TestGatewayOptions['clock']>): GatewayTime {
  if (kind === 'real') return realTime();
  const start = kind === 'manual' ? null : Number(kind.start);
  const clock = new ManualClock(start, (work) => inTimeOf(clock, work));
  const end = scopeTime();
  return {
    clock,
    run: (work) => inTimeOf(clock, work),
    why() {
      const [next] = clock.timers;
      return next === undefined
        ? ''
        : `; the time of the gateway stands still, and its next timer is due in ${next.due - clock.passed} ms: see clock.advance`;
    },
    timers: () => clock.timers,
    traceTimers() {
      clock.traced = true;
    },
    end() {
      clock.clear();
      end();
    },
  };
}

function realTime(): GatewayTime {
  const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
  // Not the context of a request of the test, whichever opens the gateway.
  const outside = AsyncLocalStorage.snapshot();
  return {
    clock: { now: () => Date.now(), advance: wait, until: (promise) => promise, settle: () => wait(1) },
    run: (work) => outside(work),
    why: () => '',
    timers: () => [],
    traceTimers() {},
    end() {},
  };
}
