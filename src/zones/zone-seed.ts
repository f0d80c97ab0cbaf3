import { randomInt } from 'node:crypto';

/** Words of a zone's header that hold its seed: two of them. */
const first = 1;

/**
 * The secret that a zone's keys are hashed with, the same for all threads that share it. Each word is set once by whoever
 * comes first, so a thread that ends in between leaves nobody waiting.
 */
export function zoneSeed(words: Int32Array): readonly [number, number] {
  return [wordOf(words, first), wordOf(words, first + 1)];
}

/** Zero means that it is not set yet. */
function wordOf(words: Int32Array, at: number): number {
  const set = Atomics.load(words, at);
  if (set !== 0) return set;
  const made = randomInt(1, 2 ** 32) | 0;
  const before = Atomics.compareExchange(words, at, 0, made);
  return before === 0 ? made : before;
}
