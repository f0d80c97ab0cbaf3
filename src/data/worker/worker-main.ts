import { flushCompileCache } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerBoot } from '../../shared/messages/messages.ts';
import { collectWhenIdle, hideGarbageCollector } from '../../shared/util/process/collect-when-idle.ts';
import { sharedClock } from '../../shared/util/time/clock.ts';
import { Counter, workerCounters } from '../../shared/zones/counters.ts';
import { beatInterval, loopDelayBeats, Vital, workerVitals } from '../../shared/zones/worker-vitals.ts';
import { showPluginCalls } from '../plugin-runner/current-request.ts';
import { DataPlaneWorker } from './data-plane-worker.ts';
import { HeapGauge } from './heap-gauge.ts';
import { LoopDelay } from './loop-delay.ts';
import { guardFromPlugins } from './plugin-guards.ts';

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const post = (message: FromWorker): void => port.postMessage(message);

/** Sends a heartbeat now, and then at each interval. */
function startHeartbeat({ vitals, worker, heapLimit }: WorkerBoot): void {
  const row = workerVitals(vitals, worker);
  const heap = new HeapGauge(heapLimit);
  const clock = sharedClock();
  const loopDelay = new LoopDelay();
  let beats = 0;
  const beat = (): void => {
    row[Vital.heapUsed] = heap.read();
    if (++beats % loopDelayBeats === 0) row[Vital.loopDelay] = loopDelay.take();
    row[Vital.beat] = clock();
  };
  beat();
  setInterval(beat, beatInterval).unref();
  showPluginCalls(row);
}

hideGarbageCollector();

/** The first message; null: the worker does not start, and says why. */
async function begin(boot: WorkerBoot): Promise<DataPlaneWorker | null> {
  try {
    startHeartbeat(boot);
    guardFromPlugins(boot, post);
    const worker = await DataPlaneWorker.create(boot, post);
    const counters = workerCounters(boot.zones, boot.worker);
    worker.onReady(() => {
      flushCompileCache();
      collectWhenIdle(() => counters[Counter.requests] ?? 0);
    });
    worker.onEnd(() => port.close());
    return worker;
  } catch (error) {
    post({ type: 'fatal', message: error instanceof Error ? error.message : String(error) });
    port.close();
    return null;
  }
}

let worker: Promise<DataPlaneWorker | null> | null = null;
port.on('message', (message: WorkerBoot | ToWorker) => {
  if (worker === null) worker = begin(message as WorkerBoot);
  else void worker.then((begun) => begun?.receive(message as ToWorker));
});
