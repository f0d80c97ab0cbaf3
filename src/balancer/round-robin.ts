import type { RuntimeTarget } from '../snapshot/runtime.ts';
import { Availability } from './availability.ts';
import type { BalanceQuery, Balancer, BalancerOptions } from './balancer.ts';
import { firstUsable, hasFailed, isRefused } from './refusals.ts';
import { WeightedSequence } from './weighted-sequence.ts';

/** Turns that a request gives up for addresses it may not use, before it takes any other. */
const maxTurns = 16;

/** Smooth weighted round-robin. The turn is in the zone, so that all workers together keep the shares exactly. */
export class RoundRobin implements Balancer {
  readonly #options: BalancerOptions;
  readonly #available: Availability;
  #sequence: WeightedSequence;
  /** For an upstream that has no place in the zone. */
  #ownTurn = 0;

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
    const index = this.#sequence.at(this.#turn());
    const plain = query.failedTargets === null && query.admits === null;
    return plain ? targets[index]! : this.#usable(targets, query, index);
  }

  /** Whoever may not be used loses its turn, not its neighbour's share: the others go on in their proportions. */
  #usable(targets: readonly RuntimeTarget[], query: BalanceQuery, first: number): RuntimeTarget | null {
    let index = first;
    for (let turn = 0; turn < maxTurns; turn++) {
      const target = targets[index]!;
      if (!hasFailed(query, target) && !isRefused(query, target)) return target;
      index = this.#sequence.at(this.#turn());
    }
    return firstUsable(targets, query, index);
  }

  #turn(): number {
    const { zone, slot } = this.#options;
    return slot === 0 ? this.#ownTurn++ >>> 0 : zone.step(slot);
  }
}
