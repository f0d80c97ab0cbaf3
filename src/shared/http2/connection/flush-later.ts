/** Something that has collected output. */
export interface Flushable {
  flush(): void;
}

let waiting: Flushable[] = [];

/**
 * Calls `flush` when the reads that are ready now are done, so that what several of them cause leaves in one write. Call it
 * once until then.
 */
export function flushLater(connection: Flushable): void {
  if (waiting.length === 0) setImmediate(flushAll);
  waiting.push(connection);
}

function flushAll(): void {
  const all = waiting;
  waiting = [];
  let at = 0;
  try {
    while (at < all.length) (all[at++] as Flushable).flush();
  } finally {
    // The others do not pay for an error of one.
    while (at < all.length) flushLater(all[at++] as Flushable);
  }
}
