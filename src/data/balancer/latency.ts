import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { Availability } from './availability.ts';
import type { BalanceQuery, Balancer, BalancerOptions } from './balancer.ts';
import type { RuntimeTarget } from './runtime-target.ts';
import { firstUsable, hasFailed, isExcluded } from './usable-target.ts';

/** Milliseconds after which the weight of a latency is a third, as in Kong. */
const decay = 10_000;

/** About half an hour, the maximum that fits in the zone. */
const maxMicroseconds = 2_000_000_000;

/** Draws for each of the two candidates, when some addresses may not be used. */
const maxDraws = 4;

/** Other workers may change the average at the same time; one lost sample does not matter. */
const maxRaces = 8;

/**
 * Adds a latency to the average of an address over all workers. A higher one counts at once and in full, so that an
 * address that has become slow is avoided from its next response on; lower ones reduce the average slowly.
 */
export function recordLatency(zone: AddressZone, slot: number, microseconds: number): void {
  if (slot === 0 || !(microseconds >= 0)) return;
  const sample = Math.min(maxMicroseconds, Math.max(1, Math.round(microseconds)));
  for (let race = 0; race < maxRaces; race++) {
    const before = zone.latency(slot);
    let after = sample;
    if (sample < before) {
      const kept = keptPart(zone.now() - zone.latencyAt(slot));
      after = Math.max(1, Math.round(before * kept + sample * (1 - kept)));
    }
    if (zone.setLatency(slot, before, after)) return;
  }
}

/** The better one of two random addresses: latency times requests in flight, in proportion to the weight. */
export class Latency implements Balancer {
  readonly #options: BalancerOptions;
  readonly #available: Availability;

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#available = new Availability(options);
  }

  pick(query: BalanceQuery): RuntimeTarget | null {
    this.#available.update();
    const { targets } = this.#available;
    const count = targets.length;
    if (count === 0) return null;
    const one = this.#draw(query, -1);
    if (one < 0) return firstUsable(targets, query, Math.floor(Math.random() * count));
    const other = count === 1 ? -1 : this.#draw(query, one);
    if (other < 0) return targets[one]!;
    const now = this.#options.zone.now();
    return targets[this.#score(other, now) < this.#score(one, now) ? other : one]!;
  }

  answered(target: RuntimeTarget, microseconds: number): void {
    recordLatency(this.#options.zone, target.slot, microseconds);
  }

  /** A random index among the available addresses other than `excluded`, of one that may be used; -1: none was found. */
  #draw(query: BalanceQuery, excluded: number): number {
    const { targets } = this.#available;
    const choices = excluded < 0 ? targets.length : targets.length - 1;
    const plain = query.failedTargets === null && query.admits === null;
    for (let draw = 0; draw < maxDraws; draw++) {
      let index = Math.floor(Math.random() * choices);
      if (excluded >= 0 && index >= excluded) index++;
      if (plain) return index;
      const target = targets[index]!;
      if (!hasFailed(query, target) && !isExcluded(query, target)) return index;
    }
    return -1;
  }

  #score(index: number, now: number): number {
    const { zone } = this.#options;
    const { slot } = this.#available.targets[index]!;
    const latency = zone.latency(slot) || this.#begin(slot);
    // Old samples say little: a slow address is tried again after a while.
    const current = Math.max(1, latency * keptPart(now - zone.latencyAt(slot)));
    return (current * (zone.activeApproximate(slot) + 1)) / this.#available.weights[index]!;
  }

  /** An address without samples is treated as average: it gets neither everything nor nothing. */
  #begin(slot: number): number {
    const { zone } = this.#options;
    let sum = 0;
    let known = 0;
    for (const target of this.#available.targets) {
      const latency = zone.latency(target.slot);
      if (latency === 0) continue;
      sum += latency;
      known++;
    }
    if (known === 0) return 1;
    const average = Math.round(sum / known);
    if (slot !== 0) zone.setLatency(slot, 0, average);
    return average;
  }
}

function keptPart(elapsed: number): number {
  return elapsed <= 0 ? 1 : Math.exp(-elapsed / decay);
}
