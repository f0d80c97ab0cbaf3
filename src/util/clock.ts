import { performance } from 'node:perf_hooks';

/** Milliseconds on the monotonic clock. Imported rather than taken from the global object, whose getter costs a look-up. */
export function monotonic(): number {
  return performance.now();
}
