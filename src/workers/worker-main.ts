import { flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { collectAtRest, hideGarbageCollector } from '../util/collect-at-rest.ts';
import { Counter, workerCounters } from '../zones/counters.ts';
import { DataPlaneWorker } from './data-plane-worker.ts';
import type { FromWorker, WorkerBoot } from './messages.ts';

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const post = (message: FromWorker): void => port.postMessage(message);

hideGarbageCollector();
try {
  const boot = workerData as WorkerBoot;
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
