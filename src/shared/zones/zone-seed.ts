import { randomInt } from 'node:crypto';

/** Words of a zone's header that hold its seed: two of them. */
const first = 1;

/**
 * The secret for hashing a zone's keys, the same for all threads that share it. The first thread sets each word, so a
 * thread that ends in between blocks no other.
 */
export function zoneSeed(words: Int32Array): readonly [number, number] {
  return [wordOf(words, first), wordOf(words, first + 1)];
}

/** Zero means that it is not set yet. */
function wordOf(words: Int32Array, at: number): number {
  const set = Atomics.load(words, at);
  if (set !== 0) return set;
  const created = randomInt(1, 2 ** 32) | 0;
  const before = Atomics.compareExchange(words, at, 0, created);
  return before === 0 ? created : before;
}
