import type { Balancer, BalancerOptions } from './balancer.ts';
import { RoundRobin } from './round-robin.ts';

/** The balancer of one of Kong's algorithms: `round-robin`, `least-connections`, `consistent-hashing`, `latency`. */
export function createBalancer(_algorithm: string, options: BalancerOptions): Balancer {
  return new RoundRobin(options);
}
