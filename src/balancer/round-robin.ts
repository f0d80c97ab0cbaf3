import type { RuntimeTarget, RuntimeUpstream } from '../snapshot/runtime.ts';

/**
 * Most places on a wheel, unless there are more targets. Weights without a common divisor (65535 and 65534) are scaled
 * down to this; the share of a target is then off by less than one place in 16,384.
 */
const maxWheel = 16_384;

/**
 * The order in which round-robin walks targets of these weights (all above 0): each index as often as its weight divided
 * by the greatest common divisor, spread evenly, so that a heavy target never gets a run of requests.
 */
export function buildWheel(weights: readonly number[]): Uint16Array {
  const counts = placeCounts(weights);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const places: { readonly index: number; readonly at: number }[] = [];
  for (const [index, count] of counts.entries()) {
    for (let turn = 0; turn < count; turn++) places.push({ index, at: ((turn + 0.5) * total) / count });
  }
  places.sort((a, b) => a.at - b.at || a.index - b.index);
  return Uint16Array.from(places, (place) => place.index);
}

/**
 * The next target, or null when the upstream has none. Targets in `avoid` (those that already failed in this request) are
 * passed over as long as there is another one.
 */
export function pickRoundRobin(
  upstream: RuntimeUpstream,
  avoid: readonly RuntimeTarget[] | null,
): RuntimeTarget | null {
  const { wheel, targets } = upstream;
  const size = wheel.length;
  if (size === 0) return null;
  const first = advance(upstream, size);
  const target = targets[wheel[first]!]!;
  if (avoid === null || !avoid.includes(target)) return target;
  for (let step = 1; step < size; step++) {
    const other = targets[wheel[(first + step) % size]!]!;
    if (!avoid.includes(other)) {
      upstream.next = (first + step + 1) % size;
      return other;
    }
  }
  return target;
}

function advance(upstream: RuntimeUpstream, size: number): number {
  const at = upstream.next < size ? upstream.next : 0;
  upstream.next = at + 1 < size ? at + 1 : 0;
  return at;
}

function placeCounts(weights: readonly number[]): readonly number[] {
  const divisor = weights.reduce(greatestCommonDivisor, 0) || 1;
  const exact = weights.map((weight) => weight / divisor);
  const total = exact.reduce((sum, count) => sum + count, 0);
  const limit = Math.max(maxWheel, weights.length);
  if (total <= limit) return exact;
  return exact.map((count) => Math.max(1, Math.floor((count * limit) / total)));
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
