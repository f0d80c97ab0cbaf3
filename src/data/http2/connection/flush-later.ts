/** Something that has collected output. */
export interface Flushable {
  flush(): void;
}

let waiting: Flushable[] = [];
let spare: Flushable[] = [];

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
  waiting = spare;
  for (let at = 0; at < all.length; at++) (all[at] as Flushable).flush();
  all.length = 0;
  spare = all;
}
