import { AsyncLocalStorage } from 'node:async_hooks';

/** Results of slow checks of one request, by their keys. */
type Results = Map<string, unknown>;

const results = new AsyncLocalStorage<Results>();

/** A check that would block the thread; `work` runs it elsewhere. The caller starts over when it is done. */
class SlowCheckPending extends Error {
  readonly work: () => Promise<void>;

  constructor(work: () => Promise<void>) {
    super('a slow check has to be carried out first');
    this.name = 'SlowCheckPending';
    this.work = work;
  }
}

/** Maximum slow checks of one request: a plugin has only a few. */
const maxRounds = 8;

/**
 * Runs `work`, whose slow checks run outside of this thread: an exception leaves `work` at each of them, and it is
 * called again with the result. So it must not have lasting effects before its checks; a transaction that is rolled
 * back has none.
 */
export function withSlowChecksOffThread<T>(work: () => Promise<T>): Promise<T> {
  return results.run(new Map(), async () => {
    for (let round = 1; ; round++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof SlowCheckPending) || round > maxRounds) throw error;
        await error.work();
      }
    }
  });
}

export interface SlowCheck<I, R> {
  /** Identifies the check and its input. */
  readonly key: (input: I) => string;
  /** True when the input is small enough to be checked at once. */
  readonly isFast: (input: I) => boolean;
  readonly now: (input: I) => R;
  /** Does not block the thread: an `offThread` call. */
  readonly offThread: (input: I) => Promise<R>;
  /** The result when `offThread` failed, by its message. */
  readonly failed: (reason: string) => R;
}

/**
 * A check for the `fn` of a `custom_entity_check`. Outside of `withSlowChecksOffThread` it runs at once, as on the
 * command line.
 */
export function slowCheck<I, R>(check: SlowCheck<I, R>): (input: I) => R {
  return (input) => {
    const known = results.getStore();
    if (known === undefined || check.isFast(input)) return check.now(input);
    const key = check.key(input);
    if (known.has(key)) return known.get(key) as R;
    throw new SlowCheckPending(async () => {
      known.set(key, await check.offThread(input).catch((error: unknown) => check.failed(String(error))));
    });
  };
}
