import { Availability, rampSteps } from './availability.ts';
import type { BalanceQuery, Balancer, BalancerOptions } from './balancer.ts';
import { HashRing } from './hash-ring.ts';
import type { RuntimeTarget } from './runtime-target.ts';
import { firstUsable, hasFailed, isExcluded } from './usable-target.ts';
import { xxhash32 } from './xxhash32.ts';

/**
 * Equal texts go to the same address, as long as it is available. The ring is walked downwards past unavailable
 * addresses, so the requests of other addresses do not move meanwhile, and all return afterwards.
 */
export class ConsistentHashing implements Balancer {
  readonly #options: BalancerOptions;
  readonly #available: Availability;
  /** Built for the first pick: with some hundred targets it takes milliseconds, and another change may come before. */
  #ring: HashRing | null = null;
  /** For each target: slow-start steps out of `rampSteps`; 0: not available. */
  readonly #steps: Uint8Array;

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#available = new Availability(options);
    this.#steps = new Uint8Array(options.targets.length);
    this.#derive();
  }

  pick(query: BalanceQuery): RuntimeTarget | null {
    const available = this.#available;
    if (available.update()) this.#derive();
    if (available.targets.length === 0) return null;
    const { hashOn, hashFallback, targets, slots } = this.#options;
    this.#ring ??= new HashRing(targets, slots);
    const ring = this.#ring;
    const hash = xxhash32(textOf(query, hashOn) ?? textOf(query, hashFallback) ?? '');
    const { points } = ring;
    const steps = this.#steps;
    const plain = query.failedTargets === null && query.admits === null;
    // During slow start a text belongs to the address or not yet; once it does, it stays.
    const step = available.ramping ? stepOf(hash) : 1;
    let at = ring.find(hash);
    let passed = -1;
    let rampingUp = -1;
    for (let walked = 0; walked < points.length; walked++) {
      const index = points[at]!;
      at = at === 0 ? points.length - 1 : at - 1;
      if (index === passed || steps[index] === 0) continue;
      if (steps[index]! < step) {
        if (rampingUp < 0) rampingUp = index;
        continue;
      }
      const target = targets[index]!;
      if (plain || (!hasFailed(query, target) && !isExcluded(query, target))) return target;
      passed = index;
    }
    if (plain && rampingUp >= 0) return targets[rampingUp]!;
    return firstUsable(available.targets, query, hash % available.targets.length);
  }

  #derive(): void {
    const { indexes, weights } = this.#available;
    const { targets } = this.#options;
    this.#steps.fill(0);
    for (const [place, index] of indexes.entries()) this.#steps[index] = weights[place]! / targets[index]!.weight;
  }
}

function textOf(query: BalanceQuery, source: BalancerOptions['hashOn']): string | null {
  return source === null ? null : query.hashInput(source);
}

/** From 1 to `rampSteps`, from other bits than those that choose the position. */
function stepOf(hash: number): number {
  return 1 + ((Math.imul(hash, 0x9e3779b1) >>> 16) % rampSteps);
}
