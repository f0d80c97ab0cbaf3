import { runInNewContext } from 'node:vm';
import { setEngineFlags } from './engine-flags.ts';

/** How long a thread must be idle before it cleans up after its start, in milliseconds. */
const defaultIdleTime = 1000;

/**
 * Collects this thread's garbage once, the first time that `activity` (a number that grows with the work done) does not
 * change for `idleTime` milliseconds: never under traffic, because it takes about 40 ms. Loading the code leaves 30 MB
 * of garbage in a node with two workers, and V8 by itself keeps it until it needs the memory.
 */
export function collectWhenIdle(activity: () => number, idleTime = defaultIdleTime): void {
  let seen = activity();
  const timer = setInterval(() => {
    const now = activity();
    if (now === seen) {
      clearInterval(timer);
      collectGarbage('last-resort');
    }
    seen = now;
  }, idleTime);
  timer.unref();
}

type Collect = (options: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: string }) => void;

/** Collects all garbage of this thread, synchronously. `last-resort` also returns the memory to the system. */
export function collectGarbage(flavor: 'regular' | 'last-resort'): void {
  setEngineFlags();
  // The main context was created before the flag was set, or has lost the function (see `hideGarbageCollector`).
  const gc = runInNewContext('globalThis.gc') as Collect | undefined;
  gc?.({ type: 'major', execution: 'sync', flavor });
}

/** Removes V8's function from the global object of a thread, so that plugins cannot pause it. */
export function hideGarbageCollector(): void {
  // V8 does not allow deleting it.
  Reflect.set(globalThis, 'gc', undefined);
}
