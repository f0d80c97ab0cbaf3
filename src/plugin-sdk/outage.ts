import type { PluginTools } from './define-plugin.ts';

/** Milliseconds between two lines of one reason: at first, and at most when it goes on. */
const shortest = 1_000;
const longest = 60_000;

/**
 * Counts failures of another server each time, and logs them ever more seldom while they go on: after a second, two, four, up to a
 * minute. A new reason is told at once, if none was told within the last second. A line tells how many went unsaid.
 */
export function outageReporter(
  tools: Pick<PluginTools, 'log' | 'count'>,
  counter: string,
  message: string,
  now: () => number = () => performance.now(),
): (error: unknown) => void {
  let lastReason = '';
  let toldAt = Number.NEGATIVE_INFINITY;
  let pause = 0;
  let unsaid = 0;
  return (error) => {
    tools.count(counter);
    const reason = error instanceof Error ? error.message : 'unknown';
    const since = now() - toldAt;
    const same = reason === lastReason;
    if (since < (same ? pause : shortest)) {
      unsaid++;
      return;
    }
    // After a quiet minute it is another outage.
    pause = same && since < pause + longest ? Math.min(pause * 2, longest) : shortest;
    lastReason = reason;
    toldAt = now();
    tools.log.error(message, unsaid === 0 ? { reason } : { reason, unsaid });
    unsaid = 0;
  };
}
