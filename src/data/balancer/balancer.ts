import type { AddressZone } from '../../shared/zones/address-zone.ts';
import type { RuntimeTarget } from './runtime-target.ts';

/** What a balancer needs from the request that it picks for; one object for all requests of a worker. */
export interface BalanceQuery {
  /** Addresses that failed in this request already; null: none. */
  readonly failedTargets: readonly RuntimeTarget[] | null;
  /** False: the address must not be used for this request (an open circuit). Null: all may be used. */
  readonly admits: ((target: RuntimeTarget) => boolean) | null;
  /** Text to hash on, one character for each byte; null: the request has none of that kind. */
  hashInput(source: HashSource): string | null;
}

/** The source of the text for consistent hashing; `name` of the header (lower case), cookie, argument or capture. */
export interface HashSource {
  readonly kind: 'consumer' | 'ip' | 'header' | 'cookie' | 'path' | 'query_arg' | 'uri_capture';
  readonly name: string;
  /** Path of the cookie that is set for a client without one. */
  readonly cookiePath: string;
}

/** The inputs of a balancer. A change of the upstream or of its addresses creates a new one. */
export interface BalancerOptions {
  /** Slot of the upstream itself in the zone: cursor and version of its availability. */
  readonly slot: number;
  /** Every address with a weight above 0, healthy or not, in the order of the targets' age. */
  readonly targets: readonly RuntimeTarget[];
  readonly zone: AddressZone;
  /** Positions of the ring of consistent hashing. */
  readonly slots: number;
  readonly hashOn: HashSource | null;
  readonly hashFallback: HashSource | null;
  /** Percentage of the weight that has to be available for the upstream to be healthy (`healthchecks.threshold`). */
  readonly threshold: number;
  /**
   * Slow start: milliseconds over which an address that was added or has recovered grows to its full weight; 0: none.
   */
  readonly slowStart: number;
}

/**
 * Chooses an address of an upstream. State that all workers share (cursor, counts, latencies, health) is in the zone;
 * what follows from the config alone is computed once.
 */
export interface Balancer {
  /** Null: no address is available. The user of the address calls `AddressZone.begin` before the next pick. */
  pick(query: BalanceQuery): RuntimeTarget | null;
  /**
   * An address took so many microseconds to begin its response; below 0: unknown. Absent where the algorithm does not
   * need it.
   */
  answered?(target: RuntimeTarget, microseconds: number): void;
}
