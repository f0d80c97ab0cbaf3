import { flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { showPluginCalls } from '../plugin-runner/current-request.ts';
import { sharedClock } from '../util/clock.ts';
import { collectAtRest, hideGarbageCollector } from '../util/collect-at-rest.ts';
import { Counter, workerCounters } from '../zones/counters.ts';
import { beatInterval, Vital, workerVitals } from '../zones/worker-vitals.ts';
import { DataPlaneWorker } from './data-plane-worker.ts';
import { HeapGauge } from './heap-limit.ts';
import type { FromWorker, WorkerBoot } from './messages.ts';

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const post = (message: FromWorker): void => port.postMessage(message);

/** A heartbeat now, and then at each interval. */
function beginBeats({ vitals, worker, heapLimit }: WorkerBoot): void {
  const row = workerVitals(vitals, worker);
  const heap = new HeapGauge(heapLimit);
  const clock = sharedClock();
  const beat = (): void => {
    row[Vital.heapUsed] = heap.read();
    row[Vital.beat] = clock();
  };
  beat();
  setInterval(beat, beatInterval).unref();
  showPluginCalls(row);
}

hideGarbageCollector();
try {
  const boot = workerData as WorkerBoot;
  beginBeats(boot);
  const worker = await DataPlaneWorker.create(boot, post);
  const counters = workerCounters(boot.zones, boot.worker);
  worker.onReady(() => {
    flushCompileCache();
    collectAtRest(() => counters[Counter.requests] ?? 0);
  });
  worker.onEnd(() => port.close());
  // Messages that came before wait in the port until now.
  port.on('message', (message) => void worker.receive(message));
} catch (error) {
  post({ type: 'fatal', message: error instanceof Error ? error.message : String(error) });
}
