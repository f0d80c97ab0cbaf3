import { monotonic } from './clock.ts';

/**
 * Passes on the first of many alike calls, and then at most one in each interval (milliseconds) together with how often it
 * was not passed on since: for what clients can cause as often as they like.
 */
export function nowAndThen(interval: number, tell: (text: string, unsaid: number) => void): (text: string) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return (text) => {
    const now = monotonic();
    if (now < quietUntil) {
      unsaid++;
      return;
    }
    quietUntil = now + interval;
    tell(text, unsaid);
    unsaid = 0;
  };
}
