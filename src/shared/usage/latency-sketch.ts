/*
 * Latencies are counted in buckets whose bounds grow by a constant factor, as DDSketch does it: two sketches are merged by adding
 * their counts, in whatever order, and a quantile is off by the relative accuracy at most, however many were merged.
 */

/** Maximum relative error of a quantile, from `leastLatency` to `maxLatency`. */
export const accuracy = 0.04;
/** Milliseconds. Faster latencies count as this; slower ones are represented by the greatest value alone. */
export const leastLatency = 0.1;
export const maxLatency = 100_000;

const growth = (1 + accuracy) / (1 - accuracy);
const perLog = 1 / Math.log(growth);
/** The bucket of everything above `maxLatency`. */
const overflow = Math.ceil(Math.log(maxLatency / leastLatency) * perLog) + 1;

export const bucketCount = overflow + 1;

/** The bucket of a latency (milliseconds). */
export function bucketOf(latency: number): number {
  if (!(latency > leastLatency)) return 0;
  const bucket = Math.ceil(Math.log(latency / leastLatency) * perLog);
  return bucket < overflow ? bucket : overflow;
}

/** The latency that represents a bucket. */
function latencyOf(bucket: number): number {
  if (bucket === 0) return leastLatency;
  return (leastLatency * 2 * growth ** bucket) / (growth + 1);
}

/** Non-empty buckets in rising order: bucket, count, bucket, count. */
export type Sketch = readonly number[];

/** The sketch of a bucket array, from `start` on. */
export function sketchOf(counts: ArrayLike<number>, start: number): Sketch {
  const sketch: number[] = [];
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    const count = counts[start + bucket] ?? 0;
    if (count > 0) sketch.push(bucket, count);
  }
  return sketch;
}

export function mergeSketches(one: Sketch, other: Sketch): Sketch {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const merged: number[] = [];
  let a = 0;
  let b = 0;
  while (a < one.length || b < other.length) {
    const first = one[a] ?? bucketCount;
    const second = other[b] ?? bucketCount;
    merged.push(Math.min(first, second), (first <= second ? one[a + 1]! : 0) + (second <= first ? other[b + 1]! : 0));
    if (first <= second) a += 2;
    if (second <= first) b += 2;
  }
  return merged;
}

export function sketchCount(sketch: Sketch): number {
  let count = 0;
  for (let at = 1; at < sketch.length; at += 2) count += sketch[at]!;
  return count;
}

/**
 * The latency that `share` (0 to 1) of all did not exceed, by nearest rank; null for an empty sketch.
 *
 * @param greatest The greatest latency that was counted: no quantile is above it.
 */
export function quantile(sketch: Sketch, share: number, greatest: number): number | null {
  const count = sketchCount(sketch);
  if (count === 0) return null;
  const rank = Math.max(1, Math.ceil(share * count));
  let seen = 0;
  for (let at = 0; at < sketch.length; at += 2) {
    seen += sketch[at + 1]!;
    if (seen < rank) continue;
    const bucket = sketch[at]!;
    return bucket >= overflow ? greatest : Math.min(latencyOf(bucket), greatest);
  }
  return greatest;
}

/** Validates what `JSON.parse` of a stored sketch returned; null when it is invalid. */
export function readSketch(value: unknown): Sketch | null {
  if (!Array.isArray(value) || value.length % 2 !== 0) return null;
  let before = -1;
  for (let at = 0; at < value.length; at += 2) {
    const [bucket, count]: unknown[] = [value[at], value[at + 1]];
    if (!Number.isInteger(bucket) || !Number.isFinite(count)) return null;
    if ((bucket as number) <= before || (bucket as number) >= bucketCount) return null;
    before = bucket as number;
  }
  return value as number[];
}
