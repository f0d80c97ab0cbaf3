import { Worker } from 'node:worker_threads';
import { bootstrapCode } from '../util/bootstrap-code.ts';
import { engineHeapLimit } from './heap-limit.ts';
import type { FromWorker, SnapshotFailure, ToWorker, WorkerBoot } from './messages.ts';
import { sampleStack } from './sample-stack.ts';

export interface WorkerEvents {
  message(worker: WorkerHandle, message: FromWorker): void;
  /** The thread has ended; `error` is what it died of. */
  exit(worker: WorkerHandle, code: number, error: Error | null): void;
}

const entry = new URL('./worker-main.ts', import.meta.url);

/** Milliseconds to wait for a thread's heap usage: it may be stuck in native code. */
const heapPatience = 500;

/** One worker thread, from its start to its end. */
export class WorkerHandle {
  readonly number: number;
  readonly startedAt = performance.now();
  ready = false;
  /** It has been given the config: changes have to reach it. */
  configured = false;
  /** Version of the config in effect. */
  version = -1;
  failures: readonly SnapshotFailure[] = [];
  /** It is being terminated, and the reason is logged. */
  condemned = false;
  readonly #thread: Worker;
  readonly #exited: Promise<void>;
  #error: Error | null = null;

  constructor(boot: WorkerBoot, events: WorkerEvents) {
    this.number = boot.worker;
    this.#thread = new Worker(bootstrapCode(entry, boot.compileCache), {
      eval: true,
      workerData: boot,
      name: `sluicegate-${boot.worker}`,
      // Settings were read from the environment once; a plugin has no business there.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: engineHeapLimit(boot.heapLimit) },
    });
    this.#thread.on('message', (message: FromWorker) => events.message(this, message));
    this.#thread.on('error', (error) => {
      this.#error = error instanceof Error ? error : new Error(String(error));
    });
    this.#exited = new Promise((resolve) => {
      this.#thread.on('exit', (code) => {
        events.exit(this, code, this.#error);
        resolve();
      });
    });
  }

  get threadId(): number {
    return this.#thread.threadId;
  }

  post(message: ToWorker): void {
    this.#thread.postMessage(message);
  }

  /** Bytes of heap in use; 0 when the thread does not answer in time. */
  async heapUsed(): Promise<number> {
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(() => late.resolve(null), heapPatience);
    try {
      const statistics = await Promise.race([this.#thread.getHeapStatistics(), late.promise]);
      return statistics?.used_heap_size ?? 0;
    } catch {
      return 0;
    } finally {
      clearTimeout(timer);
    }
  }

  /** What its event loop has done since it began, in milliseconds; read without asking the thread. */
  get loop(): { readonly idle: number; readonly active: number } {
    return this.#thread.performance.eventLoopUtilization();
  }

  /** What the thread is doing now, as `function (file:line)`; null: unknown. */
  busyWith(): Promise<string | null> {
    return sampleStack(this.#thread);
  }

  /** Resolves when the thread has ended. */
  exited(): Promise<void> {
    return this.#exited;
  }

  async terminate(): Promise<void> {
    await this.#thread.terminate();
  }
}
