import { monotonic } from './clock.ts';

/**
 * Reports the first of many similar calls, and then at most one in each interval (milliseconds), with the number of
 * suppressed calls since: for events that clients can cause as often as they like.
 *
 * @example
 * const odd = throttledLog<string>(10_000, (id, suppressed) => tools.log.warn('odd', { request_id: id, suppressed })); // in setup
 * odd(context.request.id); // in a phase
 */
export function throttledLog<T = string>(
  interval: number,
  report: (call: T, suppressed: number) => void,
): (call: T) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (call) => {
    const now = monotonic();
    if (now < quietUntil) {
      suppressed++;
      return;
    }
    quietUntil = now + interval;
    report(call, suppressed);
    suppressed = 0;
  };
}
