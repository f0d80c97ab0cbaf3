import type { Balancer, BalancerOptions } from './balancer.ts';
import { ConsistentHashing } from './consistent-hashing.ts';
import { Latency } from './latency.ts';
import { LeastConnections } from './least-connections.ts';
import { RoundRobin } from './round-robin.ts';

/** The balancer of one of Kong's algorithms: `round-robin`, `least-connections`, `consistent-hashing`, `latency`. */
export function createBalancer(algorithm: string, options: BalancerOptions): Balancer {
  if (options.targets.length === 0) return noTargets;
  switch (algorithm) {
    case 'least-connections':
      return new LeastConnections(options);
    case 'consistent-hashing':
      return new ConsistentHashing(options);
    case 'latency':
      return new Latency(options);
    default:
      return new RoundRobin(options);
  }
}

const noTargets: Balancer = Object.freeze({ pick: () => null });
