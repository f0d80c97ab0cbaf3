import type { CallResult } from '../../shared/lookup/calls.ts';
import type { FromWorker, SnapshotFailure, ToWorker, WorkerBoot } from '../../shared/messages/messages.ts';
import { failureMessage } from '../../shared/plugin-loader/failure-fields.ts';
import type { ListeningSocket } from '../../shared/sockets/listening-sockets.ts';
import type { BusyPlace } from './pause-thread.ts';
import { stuckPlace } from './sample-stack.ts';
import type { WorkerThread } from './worker-threads.ts';

export interface WorkerEvents {
  message(worker: WorkerHandle, message: FromWorker): void;
  /** The thread has ended; `error` is the cause. */
  exit(worker: WorkerHandle, code: number, error: Error | null): void;
}

/** Milliseconds to wait for a thread's heap usage: it may be stuck in native code. */
const heapTimeout = 500;

/** One worker thread, from its start to its end. */
export class WorkerHandle {
  readonly number: number;
  readonly startedAt = performance.now();
  ready = false;
  /** It has received the config: changes have to reach it. */
  configured = false;
  /** Version of the config in effect. */
  version = -1;
  failures: readonly SnapshotFailure[] = [];
  /** What it listens on. */
  sockets: readonly ListeningSocket[] = [];
  /** It is being terminated, and the reason is logged. */
  condemned = false;
  readonly #thread: WorkerThread;
  readonly #exited: Promise<void>;
  #error: Error | null = null;

  constructor(thread: WorkerThread, number: number, events: WorkerEvents) {
    this.number = number;
    this.#thread = thread;
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

  /** What the thread waits for when its code is loaded. Call it once, before `post`. */
  boot(boot: WorkerBoot): void {
    this.#thread.postMessage(boot);
  }

  post(message: ToWorker): void {
    this.#thread.postMessage(message);
  }

  /** The answer to a call. What a plugin answers may be impossible to copy between threads: then the call fails. */
  answer(id: number, result: CallResult): void {
    try {
      this.post({ type: 'answer', id, result });
    } catch (error) {
      const message = `the answer cannot be sent to a worker: ${failureMessage(error)}`;
      this.post({ type: 'answer', id, result: { ok: false, failure: { kind: 'exception', message, fields: {} } } });
    }
  }

  /** Bytes of heap in use; 0 when the thread does not answer in time. */
  async heapUsed(): Promise<number> {
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(() => late.resolve(null), heapTimeout);
    try {
      const statistics = await Promise.race([this.#thread.getHeapStatistics(), late.promise]);
      return statistics?.used_heap_size ?? 0;
    } catch {
      return 0;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Idle and active time of its event loop since the start, in milliseconds; read without a message to the thread. */
  get loop(): { readonly idle: number; readonly active: number } {
    return this.#thread.performance.eventLoopUtilization();
  }

  /** What the thread is doing now; null: unknown. It must be terminated afterwards. */
  busyWith(): Promise<BusyPlace | null> {
    return stuckPlace(this.#thread);
  }

  /** Resolves when the thread has ended. */
  exited(): Promise<void> {
    return this.#exited;
  }

  async terminate(): Promise<void> {
    await this.#thread.terminate();
  }
}
