import { bucketCount, bucketOf, quantile, sketchOf } from '../usage/latency-sketch.ts';
import { CodeCount } from './code-counts.ts';

/** Requests below which times are not compared. */
export const leastRequests = 10;
/** Milliseconds above the 99th percentile of the old code, and a factor of it: what is slower counts as slow. */
const slowBy = 5;
const slowFactor = 2;

/** The 99th percentile of the gateway's own time, in milliseconds. */
export function usualTime(row: Uint32Array): number {
  return quantile(sketchOf(row, CodeCount.buckets), 0.99, Number.POSITIVE_INFINITY) ?? 0;
}

/** How many requests of a row took longer than requests with the old code do. */
export function slowRequests(row: Uint32Array, old: Uint32Array): number {
  const usual = usualTime(old);
  const limit = bucketOf(Math.max(usual * slowFactor, usual + slowBy));
  let sum = 0;
  for (let at = limit + 1; at < bucketCount; at++) sum += row[CodeCount.buckets + at]!;
  return sum;
}

/** Most requests with the new code are slow: no chance explains it, and there is nothing to wait for. */
export function mostAreSlow(next: Uint32Array, old: Uint32Array): boolean {
  const timed = next[CodeCount.timed]!;
  if (timed < leastRequests || old[CodeCount.timed]! < timed) return false;
  return slowRequests(next, old) * 2 > timed;
}
