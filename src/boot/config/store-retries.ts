import { StoreError } from '../../control/store/store.ts';

const firstPause = 500;
/** A node that started with its copy is late by this at most when the store answers again. */
const maxPause = 1_000;

/** Pauses between attempts to reach the store, in milliseconds: they double, up to one second. Ends when the signal is aborted. */
export async function* retryPauses(signal: AbortSignal): AsyncGenerator<void> {
  for (let wait = firstPause; !signal.aborted; wait = Math.min(wait * 2, maxPause)) {
    await pause(wait, signal);
    if (!signal.aborted) yield;
  }
}

export function isUnavailable(error: unknown): error is StoreError {
  return error instanceof StoreError && error.detail.kind === 'unavailable';
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener('abort', finish, { once: true });
  });
}
