import { flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { DataPlaneWorker } from './data-plane-worker.ts';
import type { FromWorker, WorkerBoot } from './messages.ts';

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const post = (message: FromWorker): void => port.postMessage(message);

try {
  const worker = await DataPlaneWorker.create(workerData as WorkerBoot, post);
  worker.onReady(() => flushCompileCache());
  worker.onEnd(() => port.close());
  // Messages that came before wait in the port until now.
  port.on('message', (message) => void worker.receive(message));
} catch (error) {
  post({ type: 'fatal', message: error instanceof Error ? error.message : String(error) });
}
