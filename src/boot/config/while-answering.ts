import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '../../control/store/store.ts';

/** Milliseconds between two pings. */
const pingInterval = 1_000;

/**
 * The outcome of work that may take long, such as a migration or a read of everything. Rejects when the database stops to answer
 * pings meanwhile, instead of after the timeout of such work; the work itself is then abandoned.
 */
export async function whileAnswering<T>(store: Store, work: Promise<T>): Promise<T> {
  if (store.kind === 'sqlite') return await work;
  const done = new AbortController();
  const silence = pingUntilSilent(store, done.signal);
  silence.catch(() => undefined);
  work.catch(() => undefined);
  try {
    return await Promise.race([work, silence]);
  } finally {
    done.abort();
  }
}

/** Rejects with the error of the first ping that fails. */
async function pingUntilSilent(store: Store, signal: AbortSignal): Promise<never> {
  for (;;) {
    await wait(pingInterval, null, { signal });
    await store.ping();
  }
}
