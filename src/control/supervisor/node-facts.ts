import { hostname } from 'node:os';
import { sharedClock } from '../../shared/util/time/clock.ts';
import { Counter, sumCounter } from '../../shared/zones/counters.ts';
import { NodeVitals } from '../../shared/zones/worker-vitals.ts';
import { version } from '../../version.ts';
import type { ConnectionFacts, NodeFacts, ZoneFacts } from '../admin/contract.ts';
import { notReadyReason } from './readiness.ts';
import type { Supervisor } from './supervisor.ts';

export interface NodeFactsOptions {
  readonly nodeId: string;
  readonly counters: SharedArrayBuffer;
  readonly vitals: SharedArrayBuffer;
  readonly supervisor: Supervisor;
  readonly zones: () => readonly ZoneFacts[];
  readonly pluginCounts: () => Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Facts about the node, read from shared memory, so that no message to a worker is needed. */
export function createNodeFacts({
  nodeId,
  counters,
  supervisor,
  vitals,
  zones,
  pluginCounts,
}: NodeFactsOptions): NodeFacts {
  const host = hostname();
  const read = new NodeVitals(vitals);
  const clock = sharedClock();
  return {
    nodeId,
    version,
    hostname: host,
    get pids() {
      return { master: process.pid, workers: supervisor.running().map((worker) => worker.threadId) };
    },
    connections: () => connectionFacts(counters),
    memory: () =>
      Promise.all(
        supervisor.running().map(async (worker) => ({ worker: worker.number, heapUsed: await worker.heapUsed() })),
      ),
    zones,
    pluginCounts,
    notReadyReason: () => notReadyReason(read, clock()),
  };
}

function connectionFacts(counters: SharedArrayBuffer): ConnectionFacts {
  const sum = (counter: number): number => sumCounter(counters, counter);
  const active = sum(Counter.connectionsActive);
  const writing = sum(Counter.connectionsWriting);
  return {
    accepted: sum(Counter.connectionsAccepted),
    handled: sum(Counter.connectionsHandled),
    active,
    // A head nearly always arrives in one read: a connection either has a request in flight or waits for one.
    reading: 0,
    writing,
    waiting: Math.max(0, active - writing),
    totalRequests: sum(Counter.requests),
    shed: sum(Counter.shed),
  };
}
