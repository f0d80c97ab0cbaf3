import { parentPort, workerData } from 'node:worker_threads';
import { createLimitTools } from './limit-tools.ts';

/** The job of a hammering thread. */
export interface Hammer {
  readonly memory: SharedArrayBuffer;
  readonly worker: number;
  readonly kind: 'windows' | 'bucket' | 'concurrency';
  readonly limit: number;
  readonly requests: number;
  readonly keys: number;
  /** All threads wait for this to become 1. */
  readonly gate: SharedArrayBuffer;
  /** Double that holds the time; null: the system's clock. */
  readonly clock: SharedArrayBuffer | null;
}

const { memory, worker, kind, limit, requests, keys, gate, clock } = workerData as Hammer;
const time = clock === null ? null : new Float64Array(clock);
const now = time === null ? Date.now : () => time[0]!;
const tools = createLimitTools({ worker, zone: () => memory, lease: async () => [] });
const take = taker();
const start = new Int32Array(gate);
Atomics.add(start, 1, 1);
Atomics.wait(start, 0, 0);
let passed = 0;
for (let at = 0; at < requests; at++) if (take(`key-${at % keys}`)) passed++;
parentPort?.postMessage(passed);

function taker(): (key: string) => boolean {
  const common = { namespace: 'test', zone: 'z' };
  if (kind === 'windows') {
    const limits = [
      { period: 'second' as const, limit },
      { period: 'hour' as const, limit: limit * 1000 },
    ];
    const windows = tools.windows({ ...common, policy: 'local', limits, now });
    return (key) => (windows.take(key) as { allowed: boolean }).allowed;
  }
  if (kind === 'bucket') {
    const bucket = tools.bucket({ ...common, rate: 1e-6, burst: limit - 1, now });
    return (key) => bucket.take(key) >= 0;
  }
  const concurrency = tools.concurrency({ ...common, limit });
  return (key) => concurrency.acquire(key) > 0;
}
