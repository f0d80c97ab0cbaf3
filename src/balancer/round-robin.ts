import type { RuntimeTarget } from '../snapshot/runtime.ts';
import type { BalanceQuery, Balancer, BalancerOptions } from './balancer.ts';

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

/** Walks the wheel; the place is in the zone, so that all workers together keep the shares. */
export class RoundRobin implements Balancer {
  readonly #options: BalancerOptions;
  readonly #wheel: Uint16Array;

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#wheel = buildWheel(options.targets.map((target) => target.weight));
  }

  pick(query: BalanceQuery): RuntimeTarget | null {
    const { zone, slot, targets } = this.#options;
    const size = this.#wheel.length;
    if (size === 0) return null;
    const first = zone.step(slot) % size;
    let last: RuntimeTarget | null = null;
    for (let step = 0; step < size; step++) {
      const target = targets[this.#wheel[(first + step) % size]!]!;
      if (!zone.isHealthy(target.slot)) continue;
      if (query.admits !== null && !query.admits(target)) continue;
      if (query.failedTargets === null || !query.failedTargets.includes(target)) return target;
      last ??= target;
    }
    return last;
  }
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
