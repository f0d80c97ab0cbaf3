import type { RuntimeTarget } from '../snapshot/runtime.ts';
import type { AddressZone } from './address-zone.ts';

/** What a balancer may ask of the request that it picks for; one object for all requests of a worker. */
export interface BalanceQuery {
  /** Addresses that failed in this request already; null: none has. */
  readonly failedTargets: readonly RuntimeTarget[] | null;
  /** False: the address is not to be used for this request (an open circuit). Null: all may be. */
  readonly admits: ((target: RuntimeTarget) => boolean) | null;
  /** Text to hash on, one character for each byte; null: the request has none of that kind. */
  hashInput(source: HashSource): string | null;
}

/** Where consistent hashing takes its text from; `name` of the header (lower case), cookie, argument or capture. */
export interface HashSource {
  readonly kind: 'consumer' | 'ip' | 'header' | 'cookie' | 'path' | 'query_arg' | 'uri_capture';
  readonly name: string;
  /** Path of a cookie that is made for a client that has none. */
  readonly cookiePath: string;
}

/** What a balancer is made from. A change of the upstream or of its addresses makes a new one. */
export interface BalancerOptions {
  /** Place of the upstream itself in the zone: cursor and version of its availability. */
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
  /** Milliseconds over which an address that was added or has recovered gets up to its full share; 0: at once. */
  readonly slowStart: number;
}

/**
 * Chooses an address of an upstream. What must be the same for all workers (cursor, counts, latencies, health) is in the
 * zone; what follows from the config alone is computed once.
 */
export interface Balancer {
  /** Null: no address is available. Whoever uses the address says so (`AddressZone.begin`) before the next pick. */
  pick(query: BalanceQuery): RuntimeTarget | null;
  /** An address has begun to answer after so many microseconds; below 0: it is not known. Absent where that is of no concern. */
  answered?(target: RuntimeTarget, microseconds: number): void;
}
