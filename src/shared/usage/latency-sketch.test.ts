import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accuracy,
  bucketCount,
  bucketOf,
  leastLatency,
  maxLatency,
  mergeSketches,
  quantile,
  readSketch,
  type Sketch,
  sketchCount,
  sketchOf,
} from './latency-sketch.ts';

/** The same numbers for the same seed: xorshift. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Some are close to each other, some spread over the whole range, some above it. */
function latencies(seed: number, count: number): readonly number[] {
  const random = randoms(seed);
  const width = random() * 16;
  return Array.from({ length: count }, () => Math.exp(random() * width - 3));
}

function sketch(values: readonly number[]): Sketch {
  const counts = new Uint32Array(bucketCount);
  for (const value of values) counts[bucketOf(value)]!++;
  return sketchOf(counts, 0);
}

const seeds = Array.from({ length: 60 }, (_, at) => at + 1);
const shares = [0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1];

test('a quantile is off by the accuracy at most, whatever the values are', () => {
  for (const seed of seeds) {
    const values = latencies(seed, 1 + ((seed * 37) % 900)).toSorted((a, b) => a - b);
    const greatest = values.at(-1) ?? 0;
    for (const share of shares) {
      const exact = values[Math.max(0, Math.ceil(share * values.length) - 1)] ?? 0;
      const found = quantile(sketch(values), share, greatest) ?? Number.NaN;
      if (exact <= leastLatency) assert.ok(found <= leastLatency, `seed ${seed}`);
      else if (exact > maxLatency) assert.ok(found > maxLatency * (1 - accuracy), `seed ${seed}`);
      else assert.ok(Math.abs(found - exact) <= exact * (accuracy + 1e-9), `seed ${seed}: ${found} for ${exact}`);
    }
  }
});

test('sketches are merged in whatever order, and into that of all values', () => {
  for (const seed of seeds) {
    const [a, b, c] = [1, 2, 3].map((part) => latencies(seed * 3 + part, (seed * part) % 50)) as [
      number[],
      number[],
      number[],
    ];
    const [x, y, z] = [sketch(a), sketch(b), sketch(c)];
    const all = sketch([...a, ...b, ...c]);
    assert.deepEqual(mergeSketches(mergeSketches(x, y), z), all);
    assert.deepEqual(mergeSketches(x, mergeSketches(y, z)), all);
    assert.deepEqual(mergeSketches(z, mergeSketches(y, x)), all);
    assert.equal(sketchCount(all), a.length + b.length + c.length);
  }
});

test('every latency has a bucket, also an invalid one', () => {
  for (const latency of [Number.NaN, -1, 0, leastLatency, 1, maxLatency, maxLatency + 1, 1e300, Infinity]) {
    const bucket = bucketOf(latency);
    assert.ok(Number.isInteger(bucket) && bucket >= 0 && bucket < bucketCount, String(latency));
  }
  assert.ok(bucketCount < 200, 'a series stays small');
});

test('nothing has no quantile', () => {
  assert.equal(quantile([], 0.5, 0), null);
});

test('an invalid sketch is rejected', () => {
  assert.deepEqual(readSketch([0, 1, 7, 2]), [0, 1, 7, 2]);
  for (const wrong of [null, {}, [1], [0, 'x'], [5, 1, 5, 1], [7, 1, 3, 1], [-1, 1], [bucketCount, 1], [0.5, 1]]) {
    assert.equal(readSketch(wrong), null, JSON.stringify(wrong));
  }
});
