import { failingTargets, targetAt } from '../../control/overview/failing-targets.ts';
import type { NodeCircuit, OverviewFacts, WorkerFacts, WorkersFacts } from '../../control/overview/overview-facts.ts';
import { SecondRing } from '../../control/overview/second-ring.ts';
import { AddressZone } from '../../shared/zones/address-zone.ts';
import { NodeVitals, WorkerState } from '../../shared/zones/worker-vitals.ts';
import type { ConfiguredNode } from '../configure-node.ts';
import { openDescriptors } from './descriptor-watch.ts';

/** What the node does now, for `GET /overview`. `inFlight`: requests in flight in all workers. */
export function nodeOverview(node: ConfiguredNode, inFlight: () => number): OverviewFacts {
  const { memory, logs, descriptors, addresses, publisher, limitHits, certificates, shutdown } = node;
  const seconds = new SecondRing({ meter: memory.meter, counters: memory.counters, inFlight });
  seconds.start();
  shutdown.add('the control plane', () => seconds.close());
  const zone = new AddressZone(memory.addresses, -1);
  const { book, health } = addresses;
  return {
    seconds,
    problems: logs.problems,
    limitHits: () => limitHits.recent(),
    certificates: () => certificates.list(),
    failingTargets: () =>
      failingTargets({
        upstreams: () => book.list(),
        isHealthy: (slot) => zone.isHealthy(slot),
        transitions: (upstreamId) => health.stateOf(upstreamId)?.transitions ?? [],
      }),
    circuits: () => circuitsOf(node),
    workers: workersOf(node),
    descriptors: () => ({
      open: openDescriptors(),
      limit: descriptors.limit,
      exhaustions: descriptors.exhaustions,
    }),
    configVersion: () => publisher.position.version,
    startedAt: Math.round(performance.timeOrigin),
  };
}

function circuitsOf({ background, addresses }: ConfiguredNode): readonly NodeCircuit[] {
  return background.circuits().map((circuit) => {
    const slot = circuit.slot ?? 0;
    return { ...circuit, address: slot === 0 ? null : targetAt(addresses.book.list(), slot) };
  });
}

function workersOf({ options, memory, supervisor, restarts }: ConfiguredNode): () => WorkersFacts {
  const vitals = new NodeVitals(memory.vitals);
  const stateOf = (worker: number, responsive: ReadonlySet<number>): WorkerFacts['state'] => {
    const state = vitals.state(worker);
    if (state === WorkerState.absent) return 'absent';
    if (state === WorkerState.starting) return 'starting';
    return responsive.has(worker) ? 'listening' : 'stuck';
  };
  return () => {
    const responsive = new Set(supervisor.running().map(({ number }) => number));
    const list = Array.from({ length: vitals.workers }, (_, worker): WorkerFacts => {
      const state = stateOf(worker, responsive);
      const runs = state !== 'absent';
      return {
        ...{ worker, state },
        loopDelay: runs ? vitals.loopDelay(worker) : 0,
        heapUsed: runs ? vitals.heapUsed(worker) : 0,
      };
    });
    return { wanted: options.settings.workers, restarts: restarts(), stuck: supervisor.stuck, list };
  };
}
