import { Counter, sumCounter } from '../../shared/zones/counters.ts';

/** Milliseconds of work between two rests. */
const stretch = 0.3;
/** Milliseconds of a rest. Linux adds 0.05, its precision for timers. */
const rest = 0.01;

/**
 * Returns a function that the control plane's thread calls between the steps of its work: while requests arrive, the thread then rests for
 * a moment, so that a worker that waits for the same core runs. Without a rest the worker waits until the thread has used up its slice of
 * time, which is some milliseconds, whatever their priorities are. Without requests there is no rest: writes are as fast as they can be.
 *
 * @param counters Of all workers.
 */
export function givesWay(counters: SharedArrayBuffer): () => void {
  const bed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let rested = performance.now();
  let seen = sumCounter(counters, Counter.requests);
  return () => {
    if (performance.now() - rested < stretch) return;
    const requests = sumCounter(counters, Counter.requests);
    if (requests !== seen) Atomics.wait(bed, 0, 0, rest);
    seen = requests;
    rested = performance.now();
  };
}
