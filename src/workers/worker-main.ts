import { enableCompileCache, flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, WorkerBoot } from './messages.ts';

const boot = workerData as WorkerBoot;
if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
// Before the modules are loaded that it is for.
if (boot.compileCache !== null) enableCompileCache(boot.compileCache);
const { DataPlaneWorker } = await import('./data-plane-worker.ts');

const post = (message: FromWorker): void => port.postMessage(message);
const worker = await DataPlaneWorker.create(boot, post).catch((error: unknown) => {
  post({ type: 'fatal', message: error instanceof Error ? error.message : String(error) });
  return null;
});
if (worker !== null) {
  // Messages that came before wait in the port until now.
  port.on('message', (message) => void worker.receive(message));
  worker.onReady(() => flushCompileCache());
  worker.onEnd(() => port.close());
}
