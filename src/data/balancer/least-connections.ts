import { Availability } from './availability.ts';
import type { BalanceQuery, Balancer, BalancerOptions } from './balancer.ts';
import type { RuntimeTarget } from './runtime-target.ts';
import { hasFailed, isExcluded } from './usable-target.ts';

/** Attempts lost to other workers before a count is accepted as it is. */
const maxRaces = 32;

/** Above any score of an address that has not failed. */
const failedScore = 2 ** 40;

/** Random tries, so that no address among equals is preferred. */
const maxDraws = 8;

/**
 * The address with the fewest requests in flight in proportion to its weight, over all workers. The choice is counted
 * at once, so that two workers never take the same free capacity.
 */
export class LeastConnections implements Balancer {
  readonly #options: BalancerOptions;
  readonly #available: Availability;
  /** For each available address: its slot in the zone, and 1 / weight. No score is below the smallest of these. */
  #slots = new Int32Array(0);
  #costs = new Float64Array(0);
  #minCost = 0;
  #localCursor = 0;
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
    const cursor = slot === 0 ? this.#localCursor++ >>> 0 : zone.step(slot);
    const start = cursor % count;
    for (let races = 0; ; races++) {
      let index = this.#first(start);
      if (!this.#mayUse(query, index)) index = this.#firstUsable(query, start);
      if (index < 0) return null;
      if (index !== start) index = this.#equal(query, index);
      const target = targets[index]!;
      if (target.slot === 0 || races === maxRaces || this.#reserve(index)) return target;
    }
  }

  /** False: another worker was faster, so that this address may no longer be the best one. */
  #reserve(index: number): boolean {
    const slot = this.#slots[index]!;
    const { zone } = this.#options;
    const active = zone.activeApproximate(slot);
    return (active + 1) * this.#costs[index]! <= this.#score && zone.reserve(slot, active);
  }

  /** The first of the best addresses, from `start` on. */
  #first(start: number): number {
    const { zone } = this.#options;
    const slots = this.#slots;
    const costs = this.#costs;
    const minCost = this.#minCost;
    const after = zone.leastActive(slots, costs, start, slots.length, minCost);
    this.#score = zone.minFound;
    if (start === 0 || this.#score <= minCost) return after;
    const before = zone.leastActive(slots, costs, 0, start, minCost);
    if (zone.minFound >= this.#score) return after;
    this.#score = zone.minFound;
    return before;
  }

  /**
   * The same among those that the request may use; -1: none. One that has failed is used only when there is no other.
   */
  #firstUsable(query: BalanceQuery, start: number): number {
    const { targets } = this.#available;
    const count = targets.length;
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let checked = 0; checked < count; checked++) {
      const index = (start + checked) % count;
      const target = targets[index]!;
      const score = this.#scoreOf(index);
      const rank = score + (hasFailed(query, target) ? failedScore : 0);
      if (rank >= least || isExcluded(query, target)) continue;
      best = index;
      least = rank;
      this.#score = score;
    }
    return best;
  }

  /**
   * A random address as good as this one: otherwise the one after a busy neighbour would be found more often than
   * others.
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
    return !hasFailed(query, target) && !isExcluded(query, target);
  }

  #scoreOf(index: number): number {
    return (this.#options.zone.activeApproximate(this.#slots[index]!) + 1) * this.#costs[index]!;
  }

  #derive(): void {
    this.#slots = Int32Array.from(this.#available.targets, ({ slot }) => slot);
    this.#costs = Float64Array.from(this.#available.weights, (weight) => 1 / weight);
    this.#minCost = this.#costs.reduce((least, cost) => Math.min(least, cost), Number.POSITIVE_INFINITY);
  }
}
