import { describeBalancer } from './balancer.contract.ts';

for (const algorithm of ['round-robin', 'least-connections', 'consistent-hashing', 'latency']) {
  describeBalancer(algorithm);
}
