import { performance } from 'node:perf_hooks';

/**
 * Milliseconds on the monotonic clock. Imported instead of read from the global object, whose getter costs a lookup.
 */
export function monotonic(): number {
  return performance.now();
}

/**
 * A clock in milliseconds that is the same in all threads of the process, and that is never set. Each thread's own
 * monotonic clock counts from the start of that thread.
 */
export function sharedClock(): () => number {
  const [seconds, nanoseconds] = process.hrtime();
  const offset = seconds * 1000 + nanoseconds / 1e6 - performance.now();
  return () => performance.now() + offset;
}
