import type { Exchange } from '../dataplane/exchange.ts';

/**
 * Whose phase this worker runs just now, so that lines that a plugin writes in it tell of which request they are. It is known
 * until the plugin waits for something, and unknown afterwards: to know it then would cost every request that plugins
 * run for more than half a microsecond (`AsyncLocalStorage`), and connections opened meanwhile would go by the wrong request.
 */
let current: Exchange | null = null;

/** A phase of the exchange begins. Returns what has to be given to `leave` when it has returned or thrown. */
export function enter(exchange: Exchange): Exchange | null {
  const before = current;
  current = exchange;
  return before;
}

export function leave(before: Exchange | null): void {
  current = before;
}

/** Id of the request whose phase runs; null: none does. */
export function currentRequestId(): string | null {
  return current === null ? null : current.id;
}
