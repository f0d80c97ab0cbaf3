import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from './caller.ts';

const callers = new AsyncLocalStorage<Caller>();

/**
 * Runs the handler of a request for its caller. Rows are shown in many places, and each hides from this caller what it may not see, so no
 * handler can forget it.
 */
export function runFor<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/** Null outside of a request: then nothing secret is shown. */
export function currentCaller(): Caller | null {
  return callers.getStore() ?? null;
}
