import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerBoot } from '../../shared/messages/messages.ts';
import { engineHeapLimit, workerHeapLimit } from '../../shared/settings/heap-limit.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { bootstrapCode } from '../../shared/util/process/bootstrap-code.ts';

/** What the supervisor needs of a thread; a `Worker` is one. */
export interface WorkerThread {
  readonly threadId: number;
  readonly performance: {
    readonly eventLoopUtilization: () => { readonly idle: number; readonly active: number };
  };
  on(event: 'message', listener: (message: FromWorker) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number) => void): unknown;
  postMessage(message: WorkerBoot | ToWorker): void;
  getHeapStatistics(): Promise<{ readonly used_heap_size: number }>;
  terminate(): Promise<unknown>;
}

/** Where the threads of workers come from that the supervisor does not start itself. */
export interface ThreadSource {
  /** The thread for this worker; null: the supervisor starts one. The caller listens to its events in the same turn. */
  take(worker: number): WorkerThread | null;
  /** A worker that ends is not replaced, and the watchdog ends none: it runs in a thread that is not the gateway's. Default false. */
  readonly borrowed?: boolean;
}

const entry = new URL('../../data/worker/worker-main.ts', import.meta.url);

/** A thread that loads the code of a worker, and then waits for its `WorkerBoot`. `heapLimit`: bytes. */
export function startWorkerThread(worker: number, heapLimit: number, compileCache: string | null): Worker {
  return new Worker(bootstrapCode(entry, compileCache), {
    eval: true,
    name: `sluicegate-${worker}`,
    // Settings were read from the environment once; plugins do not need it.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: engineHeapLimit(heapLimit) },
  });
}

/** The threads of the first workers, which load their code while the control plane still loads its own. */
export class WorkerThreads implements ThreadSource {
  readonly #waiting = new Map<number, Worker>();

  constructor(settings: Settings, compileCache: string) {
    const heapLimit = workerHeapLimit(settings);
    for (let worker = 0; worker < settings.workers; worker++) {
      const thread = startWorkerThread(worker, heapLimit, compileCache);
      this.#waiting.set(worker, thread);
      // One that could not load its code is started again by the supervisor, which reports why.
      thread.on('error', () => undefined);
      thread.on('exit', () => this.#waiting.delete(worker));
    }
  }

  /** The thread for this worker, once; null: there is none. The caller listens to its events in the same turn. */
  take(worker: number): Worker | null {
    const thread = this.#waiting.get(worker) ?? null;
    thread?.removeAllListeners('error').removeAllListeners('exit');
    this.#waiting.delete(worker);
    return thread;
  }

  /** Ends the threads that nobody has taken. */
  async end(): Promise<void> {
    await Promise.all([...this.#waiting.values()].map((thread) => thread.terminate()));
  }
}
