import { type Random, randomOf } from '../../../test/support/random.ts';
import { AddressZone, type AddressZoneMemory, createAddressZone } from '../../shared/zones/address-zone.ts';
import type { BalanceQuery, Balancer, BalancerOptions, HashSource } from './balancer.ts';
import { createBalancer } from './create-balancer.ts';
import type { RuntimeTarget } from './runtime-target.ts';

/** A zone whose time is that of the test. */
export class ClockedZone extends AddressZone {
  readonly clock: { now: number };

  constructor(memory: AddressZoneMemory, worker: number, clock: { now: number }) {
    super(memory, worker);
    this.clock = clock;
  }

  override now(): number {
    return this.clock.now;
  }
}

/** The upstream's own slot; addresses follow it. */
export const upstreamSlot = 1;

export function targetsOf(weights: readonly number[]): RuntimeTarget[] {
  return weights.map((weight, index) => ({
    id: `t${index}`,
    host: `10.0.${index >> 8}.${index & 255}`,
    ip: `10.0.${index >> 8}.${index & 255}`,
    port: 80,
    weight,
    slot: upstreamSlot + 1 + index,
  }));
}

export const hashOnHeader: HashSource = { kind: 'header', name: 'x-user', cookiePath: '/' };

/** One worker's balancer, and its view of the shared memory. */
export interface TestWorker {
  readonly balancer: Balancer;
  readonly zone: ClockedZone;
}

export interface Bench extends TestWorker {
  /** Another worker over the same memory. */
  another(): TestWorker;
  readonly clock: { now: number };
  readonly targets: readonly RuntimeTarget[];
  setHealthy(index: number, healthy: boolean): void;
  /** An address that has just become available. */
  add(index: number): void;
}

/** A balancer over targets of these weights, in its own zone. */
export function bench(
  algorithm: string,
  weights: readonly number[],
  options: Partial<BalancerOptions> = {},
  memory: AddressZoneMemory = createAddressZone(4),
): Bench {
  const targets = options.targets ?? targetsOf(weights);
  const clock = { now: 1_000_000 };
  const make = (worker: number): TestWorker => {
    const zone = new ClockedZone(memory, worker, clock);
    const balancer = createBalancer(algorithm, {
      slot: upstreamSlot,
      zone,
      slots: 10_000,
      hashOn: hashOnHeader,
      hashFallback: null,
      threshold: 0,
      slowStart: 0,
      ...options,
      targets,
    });
    return { balancer, zone };
  };
  const first = make(0);
  const { zone } = first;
  let workers = 0;
  return {
    ...first,
    another: () => make(++workers),
    clock,
    targets,
    setHealthy: (index, healthy) => {
      zone.setHealthy(targets[index]!.slot, healthy);
      zone.changed(upstreamSlot);
    },
    add: (index) => {
      zone.markAvailable(targets[index]!.slot);
      zone.changed(upstreamSlot);
    },
  };
}

/** A request whose hash input is this text. */
export function request(text: string | null = '', parts: Partial<BalanceQuery> = {}): BalanceQuery {
  return { failedTargets: null, admits: null, hashInput: () => text, ...parts };
}

/** Whole numbers below a bound, from a seed that is reported. */
export function seeded(report: (text: string) => void): Random {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  report(`SEED=${seed}`);
  return randomOf(seed);
}

/** How often each target is picked. */
export function tally(times: number, pick: (round: number) => RuntimeTarget | null): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let round = 0; round < times; round++) {
    const id = pick(round)?.id ?? 'none';
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return counts;
}
