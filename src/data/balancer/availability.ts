import type { BalancerOptions } from './balancer.ts';
import type { RuntimeTarget } from './runtime-target.ts';

/** Steps in which the weight of an address grows to the full one. */
export const rampSteps = 20;

/**
 * The addresses of an upstream that may be picked now, and the weight of each. Derived again only when the zone's
 * version of the upstream has changed, or during the slow start of an address; otherwise a pick costs one read of
 * shared memory.
 */
export class Availability {
  readonly #options: BalancerOptions;
  readonly #totalWeight: number;
  #version: number;
  /** When the next weight grows, in milliseconds of the zone; Infinity while none does. */
  #nextStep = Number.POSITIVE_INFINITY;
  /** Empty when too little of the upstream's weight is left for it to be healthy. */
  targets: readonly RuntimeTarget[] = [];
  /** For each of `targets`: its weight times its slow-start steps, out of `rampSteps`. Whole numbers. */
  weights: readonly number[] = [];
  /** Positions of `targets` in the list of all. */
  indexes: readonly number[] = [];

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#totalWeight = options.targets.reduce((sum, { weight }) => sum + weight, 0);
    this.#version = options.zone.versionNow(options.slot);
    this.#derive();
  }

  /** Some address has less than its full weight. */
  get ramping(): boolean {
    return this.#nextStep !== Number.POSITIVE_INFINITY;
  }

  /** Call this with each pick. True: the lists are new. */
  update(): boolean {
    const { zone, slot } = this.#options;
    if (zone.version(slot) === this.#version) {
      if (this.#nextStep === Number.POSITIVE_INFINITY || zone.now() < this.#nextStep) return false;
    }
    this.#version = zone.versionNow(slot);
    this.#derive();
    return true;
  }

  #derive(): void {
    const { zone, targets: all, threshold, slowStart } = this.#options;
    const targets: RuntimeTarget[] = [];
    const weights: number[] = [];
    const indexes: number[] = [];
    const now = slowStart > 0 ? zone.now() : 0;
    let available = 0;
    let nextStep = Number.POSITIVE_INFINITY;
    for (const [index, target] of all.entries()) {
      const { slot, weight } = target;
      if (!zone.isHealthy(slot)) continue;
      available += weight;
      const since = slowStart > 0 ? zone.availableSince(slot) : 0;
      const steps = since === 0 ? rampSteps : stepsUp(now - since, slowStart);
      if (steps < rampSteps) nextStep = Math.min(nextStep, since + stepTime(steps, slowStart));
      targets.push(target);
      weights.push(weight * steps);
      indexes.push(index);
    }
    // As in Kong, strictly more than the threshold must be left.
    const healthy = available > 0 && (available / this.#totalWeight) * 100 > threshold;
    this.targets = healthy ? targets : [];
    this.weights = healthy ? weights : [];
    this.indexes = healthy ? indexes : [];
    this.#nextStep = healthy ? nextStep : Number.POSITIVE_INFINITY;
  }
}

/** From one step at the beginning to all of them. */
function stepsUp(elapsed: number, slowStart: number): number {
  if (elapsed >= slowStart) return rampSteps;
  return 1 + Math.floor((Math.max(0, elapsed) * (rampSteps - 1)) / slowStart);
}

/** Milliseconds until the next step. */
function stepTime(steps: number, slowStart: number): number {
  return Math.ceil((steps * slowStart) / (rampSteps - 1));
}
