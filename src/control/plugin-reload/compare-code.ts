import { CodeCount } from '../../shared/zones/code-counts.ts';
import { leastRequests, slowRequests, usualTime } from '../../shared/zones/code-times.ts';

/** Of the requests: how many must be slow while the observation runs, and at its end. */
const slowShare = 0.2;
const slowShareAtEnd = 0.05;
/** A request of the old code that is slow is never rarer than this: a percentile has an error. */
const leastShare = 0.005;

/**
 * Why new code of a plugin is slower than the old; null: it is not. One pause of the worker delays all its requests at that moment, so
 * believe it only when it lasts.
 *
 * @param isEnd The observation is over: a smaller part of the requests counts, because more were seen.
 */
export function isSlower(next: Uint32Array, old: Uint32Array, isEnd: boolean): string | null {
  const [requests, before] = [next[CodeCount.timed]!, old[CodeCount.timed]!];
  if (requests < leastRequests || before < leastRequests) return null;
  const [slow, slowBefore] = [slowRequests(next, old), slowRequests(old, old)];
  const expected = requests * Math.max(slowBefore / before, leastShare);
  const deviation = Math.sqrt(expected * (1 + requests / before));
  const least = Math.max(10, requests * (isEnd ? slowShareAtEnd : slowShare));
  if (slow < least || slow < expected + 4 + 5 * deviation) return null;
  const [p99, p99Before] = [usualTime(next), usualTime(old)].map((value) => value.toFixed(1));
  return `the gateway's own time is longer: p99 ${p99} ms in ${requests} requests; with the old code ${p99Before} ms in ${before}`;
}
