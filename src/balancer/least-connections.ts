import type { RuntimeTarget } from '../snapshot/runtime.ts';
import { Availability } from './availability.ts';
import type { BalanceQuery, Balancer, BalancerOptions } from './balancer.ts';
import { hasFailed, isRefused } from './refusals.ts';

/** Times that other workers may be quicker before a count is taken as it is. */
const maxRaces = 32;

/** Above any score of an address that has not failed. */
const failedScore = 2 ** 40;

/** Places that are tried by chance, so that of equals none is preferred. */
const maxDraws = 8;

/**
 * The address with the fewest requests in flight in proportion to its weight, over all workers. The choice is counted at
 * once, so that two workers never take the same free place.
 */
export class LeastConnections implements Balancer {
  readonly #options: BalancerOptions;
  readonly #available: Availability;
  /** Of each available address: its place in the zone, and 1 / weight. Nobody's score is below the smallest of these. */
  #slots = new Int32Array(0);
  #costs = new Float64Array(0);
  #leastCost = 0;
  #ownTurn = 0;
  /** Of the address found, when it was found. */
  #score = 0;

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
    const start = turn % count;
    for (let races = 0; ; races++) {
      let index = this.#first(start);
      if (!this.#mayUse(query, index)) index = this.#firstUsable(query, start);
      if (index < 0) return null;
      if (index !== start) index = this.#equal(query, index);
      const target = targets[index]!;
      if (target.slot === 0 || races === maxRaces || this.#reserve(index)) return target;
    }
  }

  /** False: another worker has been quicker, so that this address may no longer be the best one. */
  #reserve(index: number): boolean {
    const slot = this.#slots[index]!;
    const { zone } = this.#options;
    const active = zone.activeLately(slot);
    return (active + 1) * this.#costs[index]! <= this.#score && zone.reserve(slot, active);
  }

  /** The first of the best addresses, from the one on whose turn it is. */
  #first(start: number): number {
    const { zone } = this.#options;
    const slots = this.#slots;
    const costs = this.#costs;
    const leastCost = this.#leastCost;
    const after = zone.leastActive(slots, costs, start, slots.length, leastCost);
    this.#score = zone.leastFound;
    if (start === 0 || this.#score <= leastCost) return after;
    const before = zone.leastActive(slots, costs, 0, start, leastCost);
    if (zone.leastFound >= this.#score) return after;
    this.#score = zone.leastFound;
    return before;
  }

  /** The same among those that the request may use; -1: there is none. One that has failed, only when there is no other. */
  #firstUsable(query: BalanceQuery, start: number): number {
    const { targets } = this.#available;
    const count = targets.length;
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let looked = 0; looked < count; looked++) {
      const index = (start + looked) % count;
      const target = targets[index]!;
      const score = this.#scoreOf(index);
      const rank = score + (hasFailed(query, target) ? failedScore : 0);
      if (rank >= least || isRefused(query, target)) continue;
      best = index;
      least = rank;
      this.#score = score;
    }
    return best;
  }

  /**
   * An address as good as this one, by chance: otherwise the one that stands behind a busy neighbour would be found more
   * often than others.
   */
  #equal(query: BalanceQuery, found: number): number {
    for (let draw = 0; draw < maxDraws; draw++) {
      const index = Math.floor(Math.random() * this.#slots.length);
      if (this.#scoreOf(index) <= this.#score && this.#mayUse(query, index)) return index;
    }
    return found;
  }

  #mayUse(query: BalanceQuery, index: number): boolean {
    const target = this.#available.targets[index]!;
    return !hasFailed(query, target) && !isRefused(query, target);
  }

  #scoreOf(index: number): number {
    return (this.#options.zone.activeLately(this.#slots[index]!) + 1) * this.#costs[index]!;
  }

  #derive(): void {
    this.#slots = Int32Array.from(this.#available.targets, ({ slot }) => slot);
    this.#costs = Float64Array.from(this.#available.weights, (weight) => 1 / weight);
    this.#leastCost = this.#costs.reduce((least, cost) => Math.min(least, cost), Number.POSITIVE_INFINITY);
  }
}
