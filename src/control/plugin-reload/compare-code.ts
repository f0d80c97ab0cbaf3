import { bucketCount, bucketOf, quantile, sketchOf } from '../../shared/usage/latency-sketch.ts';
import { CodeCount } from '../../shared/zones/code-counts.ts';

/** Requests below which times are not compared. */
export const leastRequests = 10;
/** Of the requests: how many must be slow while the observation runs, and at its end. */
const slowShare = 0.2;
const slowShareAtEnd = 0.05;
/** Milliseconds above the 99th percentile of the old code, and a factor of it: what is slower counts as slow. */
const slowBy = 5;
const slowFactor = 2;
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
  const usual = percentile(old);
  const limit = bucketOf(Math.max(usual * slowFactor, usual + slowBy));
  const [slow, slowBefore] = [above(next, limit), above(old, limit)];
  const expected = requests * Math.max(slowBefore / before, leastShare);
  const deviation = Math.sqrt(expected * (1 + requests / before));
  const least = Math.max(10, requests * (isEnd ? slowShareAtEnd : slowShare));
  if (slow < least || slow < expected + 4 + 5 * deviation) return null;
  const [p99, p99Before] = [percentile(next), usual].map((value) => value.toFixed(1));
  return `the gateway's own time is longer: p99 ${p99} ms in ${requests} requests; with the old code ${p99Before} ms in ${before}`;
}

function percentile(row: Uint32Array): number {
  return quantile(sketchOf(row, CodeCount.buckets), 0.99, Number.POSITIVE_INFINITY) ?? 0;
}

function above(row: Uint32Array, bucket: number): number {
  let sum = 0;
  for (let at = bucket + 1; at < bucketCount; at++) sum += row[CodeCount.buckets + at]!;
  return sum;
}
