import { Availability } from './availability.ts';
import type { BalanceQuery, Balancer, BalancerOptions } from './balancer.ts';
import type { RuntimeTarget } from './runtime-target.ts';
import { firstUsable, hasFailed, isExcluded } from './usable-target.ts';
import { WeightedSequence } from './weighted-sequence.ts';

/** Slots that a request skips for addresses it may not use, before it takes any other. */
const maxSkips = 16;

/** Smooth weighted round-robin. The cursor is in the zone, so that all workers together keep the exact shares. */
export class RoundRobin implements Balancer {
  readonly #options: BalancerOptions;
  readonly #available: Availability;
  #sequence: WeightedSequence;
  /** For an upstream without a slot in the zone. */
  #localCursor = 0;

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#available = new Availability(options);
    this.#sequence = new WeightedSequence(this.#available.weights);
  }

  pick(query: BalanceQuery): RuntimeTarget | null {
    const available = this.#available;
    if (available.update()) this.#sequence = new WeightedSequence(available.weights);
    const { targets } = available;
    if (targets.length === 0) return null;
    const index = this.#sequence.at(this.#nextSlot());
    const plain = query.failedTargets === null && query.admits === null;
    return plain ? targets[index]! : this.#usable(targets, query, index);
  }

  /**
   * An address that may not be used is skipped without passing its share to its neighbour: the others keep their
   * proportions.
   */
  #usable(targets: readonly RuntimeTarget[], query: BalanceQuery, first: number): RuntimeTarget | null {
    let index = first;
    for (let skips = 0; skips < maxSkips; skips++) {
      const target = targets[index]!;
      if (!hasFailed(query, target) && !isExcluded(query, target)) return target;
      index = this.#sequence.at(this.#nextSlot());
    }
    return firstUsable(targets, query, index);
  }

  #nextSlot(): number {
    const { zone, slot } = this.#options;
    return slot === 0 ? this.#localCursor++ >>> 0 : zone.step(slot);
  }
}
