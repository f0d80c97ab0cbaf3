import { timeScopes } from './time-scopes.ts';

/** Something with output that can wait for the end of the turn. */
export interface Flushable {
  flush(): void;
}

let waiting: Flushable[] = [];

/**
 * Calls `flush` when the reads that are ready now are done, so that what several of them cause leaves in one write, or
 * at least in a row: a process that waits for it is woken up once. Call it once until then.
 */
export function flushLater(output: Flushable): void {
  if (waiting.length === 0) setImmediate(flushAll);
  waiting.push(timeScopes === null ? output : { flush: timeScopes.bind(() => output.flush()) });
}

function flushAll(): void {
  let at = 0;
  try {
    // Also those that are added meanwhile.
    while (at < waiting.length) (waiting[at++] as Flushable).flush();
  } finally {
    waiting = waiting.slice(at);
    // The others do not pay for an error of one.
    if (waiting.length > 0) setImmediate(flushAll);
  }
}
