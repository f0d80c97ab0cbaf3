import type { RuntimeTarget } from '../snapshot/runtime.ts';
import { Availability } from './availability.ts';
import type { BalanceQuery, Balancer, BalancerOptions } from './balancer.ts';
import { hasFailed, isRefused } from './refusals.ts';

/** Times that other workers may be quicker before a count is taken as it is. */
const maxRaces = 8;

/** Places that are tried by chance, so that of equals none is preferred. */
const maxDraws = 4;

/**
 * The address with the fewest requests in flight in proportion to its weight, over all workers. The choice is counted at
 * once, so that two workers never take the same free place.
 */
export class LeastConnections implements Balancer {
  readonly #options: BalancerOptions;
  readonly #available: Availability;
  /** 1 / weight of each available address, and the smallest of them: nobody's score is below that. */
  #costs = new Float64Array(0);
  #leastCost = 0;
  #ownTurn = 0;
  /** What the last search has found. */
  #score = 0;
  #active = 0;

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#available = new Availability(options);
    this.#derive();
  }

  pick(query: BalanceQuery): RuntimeTarget | null {
    if (this.#available.update()) this.#derive();
    const { zone, slot } = this.#options;
    const { targets } = this.#available;
    const count = targets.length;
    if (count === 0) return null;
    const turn = slot === 0 ? this.#ownTurn++ >>> 0 : zone.step(slot);
    for (let races = 0; ; races++) {
      let index = this.#search(query, turn, true);
      if (index < 0) index = this.#search(query, turn, false);
      else if (index !== turn % count) index = this.#equal(query) ?? index;
      if (index < 0) return null;
      const target = targets[index]!;
      if (target.slot === 0 || races === maxRaces || zone.reserve(target.slot, this.#active)) return target;
    }
  }

  /** The first of the best addresses, from the one on whose turn it is; in alternating directions. -1: there is none. */
  #search(query: BalanceQuery, turn: number, avoidFailed: boolean): number {
    const { zone } = this.#options;
    const { targets } = this.#available;
    const costs = this.#costs;
    const count = targets.length;
    const upwards = Math.floor(turn / count) % 2 === 0;
    let best = -1;
    let bestScore = Number.POSITIVE_INFINITY;
    let at = turn % count;
    for (let looked = 0; looked < count; looked++) {
      const index = at;
      if (upwards) at = index + 1 === count ? 0 : index + 1;
      else at = index === 0 ? count - 1 : index - 1;
      const target = targets[index]!;
      const active = zone.activeLately(target.slot);
      const score = (active + 1) * costs[index]!;
      if (score >= bestScore || isRefused(query, target)) continue;
      if (avoidFailed && hasFailed(query, target)) continue;
      best = index;
      bestScore = score;
      this.#active = active;
      if (score <= this.#leastCost) break;
    }
    this.#score = bestScore;
    return best;
  }

  /**
   * Another address as good as the one found, by chance: otherwise the one that stands behind a busy neighbour would be
   * found more often. Null: none was met.
   */
  #equal(query: BalanceQuery): number | null {
    const { zone } = this.#options;
    const { targets } = this.#available;
    for (let draw = 0; draw < maxDraws; draw++) {
      const index = Math.floor(Math.random() * targets.length);
      const target = targets[index]!;
      const active = zone.activeLately(target.slot);
      if ((active + 1) * this.#costs[index]! > this.#score) continue;
      if (hasFailed(query, target) || isRefused(query, target)) continue;
      this.#active = active;
      return index;
    }
    return null;
  }

  #derive(): void {
    this.#costs = Float64Array.from(this.#available.weights, (weight) => 1 / weight);
    this.#leastCost = this.#costs.reduce((least, cost) => Math.min(least, cost), Number.POSITIVE_INFINITY);
  }
}
