/** Number of hash points: fine enough for a weight of 65,535. */
const points = 2 ** 32;

/**
 * Assigns each weight a part of the range from 0 to 1, in order. A weight that grows takes from the next part, so that clients
 * of the first part stay there.
 */
export function stretches(weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let end = 0;
  return weights.map((weight) => {
    end += weight;
    return total === 0 ? 0 : end / total;
  });
}

/** The index of the part that contains this point, 0 to 1; -1 when all weights are 0. */
export function stretchAt(ends: readonly number[], point: number): number {
  for (let at = 0; at < ends.length; at++) if (point < ends[at]!) return at;
  return -1;
}

/** A point for this text: the same at all times and on all nodes, and spread evenly. FNV-1a, then the mixer of MurmurHash3. */
export function pointOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / points;
}
