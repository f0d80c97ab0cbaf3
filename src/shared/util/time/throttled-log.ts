import { monotonic } from './clock.ts';

/**
 * Reports the first of many similar calls, and then at most one in each interval (milliseconds), with the number of
 * suppressed calls since: for events that clients can cause as often as they like.
 */
export function throttledLog(
  interval: number,
  report: (text: string, suppressed: number) => void,
): (text: string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (text) => {
    const now = monotonic();
    if (now < quietUntil) {
      suppressed++;
      return;
    }
    quietUntil = now + interval;
    report(text, suppressed);
    suppressed = 0;
  };
}
