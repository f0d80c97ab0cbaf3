import { parentPort, workerData } from 'node:worker_threads';
import { AddressZone, type AddressZoneMemory } from '../../shared/zones/address-zone.ts';
import { request, targetsOf, upstreamSlot } from './balancer.fixture.ts';
import { createBalancer } from './create-balancer.ts';

/** The job of a worker thread of the tests: so many picks, each begun; the oldest ends once `held` are open. */
export interface PickingJob {
  readonly memory: AddressZoneMemory;
  readonly worker: number;
  readonly algorithm: string;
  readonly weights: readonly number[];
  readonly picks: number;
  /** Infinity: none ends. */
  readonly held: number;
  /** All threads begin at the same time: each adds one, and waits until all have. */
  readonly gate: SharedArrayBuffer;
  readonly threads: number;
}

const job = workerData as PickingJob;
const zone = new AddressZone(job.memory, job.worker);
const targets = targetsOf(job.weights);
const balancer = createBalancer(job.algorithm, {
  slot: upstreamSlot,
  targets,
  zone,
  slots: 10_000,
  hashOn: null,
  hashFallback: null,
  threshold: 0,
  slowStart: 0,
});
const gate = new Int32Array(job.gate);
if (Atomics.add(gate, 0, 1) + 1 === job.threads) {
  Atomics.store(gate, 1, 1);
  Atomics.notify(gate, 1);
} else Atomics.wait(gate, 1, 0);

const counts = new Array<number>(targets.length).fill(0);
const open: number[] = [];
const query = request();
for (let pick = 0; pick < job.picks; pick++) {
  const target = balancer.pick(query)!;
  zone.begin(target.slot);
  counts[target.slot - upstreamSlot - 1]!++;
  open.push(target.slot);
  if (open.length > job.held) zone.end(open.shift()!);
}
parentPort!.postMessage(counts);
