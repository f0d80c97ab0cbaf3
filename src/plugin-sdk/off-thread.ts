import { Worker } from 'node:worker_threads';
import { clientGroup, FairQueue, overloaded } from '../util/fair-queue.ts';

export interface OffThreadOptions {
  /** Milliseconds for one call once its turn has come; then the thread is ended. Default 5000. */
  readonly deadline?: number;
}

export interface OffThreadCall<A extends readonly unknown[], R> {
  /** For work that no client caused; all such calls share one queue. */
  (...args: A): Promise<R>;
  /** `client`: the IP address of the client whose request needs it. */
  forClient(client: string, ...args: A): Promise<R>;
}

/** The call was not carried out: too many wait, its time is over, or the thread has ended. */
export class OffThreadError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OffThreadError';
  }
}

interface Call {
  readonly id: number;
  readonly module: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

export type OffThreadMessage = Call;
/** What a call gave; a failure is told by its class name, its message and its own fields. */
export type OffThreadAnswer =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: { readonly name: string; readonly message: string; readonly fields: object };
    };

interface Running {
  readonly call: Call;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const maxWaiting = 64;
/** Milliseconds that a call may wait for its turn. */
const maxWait = 30_000;
const idleTime = 30_000;
const mostMegabytes = 512;
const usualDeadline = 5_000;

/**
 * A function of a module, run in a thread beside this one so that a large body does not hold up the others: `module` exports
 * it under `name`. Arguments and result are copied. What it throws is thrown here with the same name, message and fields. Calls wait for each
 * other, those of different clients in turn; rejects with an `OffThreadError` when there are too many.
 *
 * Texts of 8 MiB at most: JSON can take thirty times its size, and a thread whose memory runs out ends the process.
 */
export function offThread<A extends readonly unknown[], R>(
  module: URL,
  name: string,
  { deadline = usualDeadline }: OffThreadOptions = {},
): OffThreadCall<A, R> {
  const forClient = (client: string, ...args: A): Promise<R> =>
    thread.call(client, module.href, name, args, deadline) as Promise<R>;
  return Object.assign((...args: A) => forClient('', ...args), { forClient });
}

/**
 * The one such thread of this worker: started when it is needed, ended when it has long not been. It has one call at a time, so
 * that only the call whose time is over has to go when the thread is ended.
 */
class HelperThread {
  #worker: Worker | null = null;
  /** Of the call under way, or of the time without any. */
  #timer: NodeJS.Timeout | undefined;
  #serial = 0;
  #current: Running | null = null;
  readonly #queue = new FairQueue({ concurrency: 1, maxWaiting, maxWait });

  async call(
    client: string,
    module: string,
    name: string,
    args: readonly unknown[],
    deadline: number,
  ): Promise<unknown> {
    const call = { id: ++this.#serial, module, name, args };
    const result = await this.#queue.run(clientGroup(client), () => this.#carryOut(call, deadline));
    if (result === overloaded) throw new OffThreadError('too many bodies are waiting to be converted');
    return result;
  }

  #carryOut(call: Call, deadline: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#current = { call, resolve, reject };
      const thread = this.#worker ?? this.#start();
      thread.ref();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#end(thread, `a body took longer than ${deadline} ms`), deadline);
      try {
        thread.postMessage(call);
      } catch (error) {
        reject(error as Error);
        this.#rest();
      }
    });
  }

  #rest(): void {
    const worker = this.#worker;
    this.#current = null;
    clearTimeout(this.#timer);
    worker?.unref();
    this.#timer = setTimeout(() => this.#end(worker, 'idle'), idleTime).unref();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./off-thread-worker.ts', import.meta.url), {
      name: 'bodies',
      resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
    });
    worker.on('message', (answer: OffThreadAnswer) => this.#answered(answer));
    worker.on('error', (error) => this.#end(worker, `the thread failed: ${error.message}`));
    worker.on('exit', () => this.#end(worker, 'the thread has ended'));
    this.#worker = worker;
    return worker;
  }

  #answered(answer: OffThreadAnswer): void {
    const current = this.#current;
    if (current?.call.id !== answer.id) return;
    this.#rest();
    if ('error' in answer) current.reject(errorOf(answer.error));
    else current.resolve(answer.value);
  }

  /** The call under way is lost, those behind it are not. */
  #end(worker: Worker | null, reason: string): void {
    if (worker === null || this.#worker !== worker) return;
    this.#worker = null;
    void worker.terminate();
    clearTimeout(this.#timer);
    const current = this.#current;
    this.#current = null;
    current?.reject(new OffThreadError(reason));
  }
}

function errorOf({
  name,
  message,
  fields,
}: {
  readonly name: string;
  readonly message: string;
  readonly fields: object;
}): Error {
  const error = Object.assign(new Error(message), fields);
  Object.defineProperty(error, 'name', { value: name });
  return error;
}

const thread = new HelperThread();
