import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How long a thread has to rest before it cleans up after its start, in milliseconds. */
const defaultRest = 1000;

/**
 * Collects this thread's garbage once, the first time that `activity` (a number that grows with the work done) stands
 * still for `rest` milliseconds: never under traffic, because it takes about 40 ms. What loading the code left behind is
 * 30 MB in a node with two workers, and V8 by itself keeps it until something else needs the room.
 */
export function collectAtRest(activity: () => number, rest = defaultRest): void {
  let seen = activity();
  const timer = setInterval(() => {
    const now = activity();
    if (now === seen) {
      clearInterval(timer);
      collectGarbage('last-resort');
    }
    seen = now;
  }, rest);
  timer.unref();
}

type Collect = (options: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: string }) => void;

/** Collects all garbage of this thread, at once. `last-resort` also gives the room back to the system. */
export function collectGarbage(flavor: 'regular' | 'last-resort'): void {
  // Only contexts made while the flag stands have the function, so nothing else of the process gets hold of it.
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  gc({ type: 'major', execution: 'sync', flavor });
}
