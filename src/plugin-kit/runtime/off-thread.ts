import { Worker } from 'node:worker_threads';
import { mayStartThreads } from '../../shared/util/process/helper-threads.ts';
import { clientGroup, FairQueue, overloaded } from '../../shared/util/time/fair-queue.ts';

export interface OffThreadOptions {
  /** Milliseconds for one call, without the time in the queue; then the thread is terminated. Default: 5000. */
  readonly deadline?: number;
}

/** The function, in another thread. */
export interface OffThreadCall<A extends readonly unknown[], R> {
  /** For work that no client caused. All such calls share one queue. */
  (...args: A): Promise<R>;
  /** Clients are scheduled fairly. `client`: IP address of the client whose request needs the result. */
  forClient(client: string, ...args: A): Promise<R>;
}

/** The call was not completed: the queue is full, its time is over, or the thread ended. */
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
/** The result of a call. A failure has the class name, the message and the own fields of the exception. */
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
const maxMegabytes = 512;
const defaultDeadline = 5_000;

/**
 * Runs a function in another thread, so that work over about 10 ms does not delay other requests. `module` exports it as `name`.
 * Arguments and result are copied. An exception is thrown here with the same name, message and fields. Calls run one after another.
 * Pass texts of at most 8 MiB: JSON can take thirty times its size, and a thread that runs out of memory ends the process.
 * In an application that embeds the gateway there is no other thread: the call is carried out in this one, and has no deadline.
 *
 * @throws OffThreadError (rejects) if too many calls wait, or the call takes too long.
 *
 * @example
 * const convert = offThread<[Uint8Array], Uint8Array>(new URL('./convert.ts', import.meta.url), 'convert');
 * const converted = await convert.forClient(context.client.ip, body);
 */
export function offThread<A extends readonly unknown[], R>(
  module: URL,
  name: string,
  { deadline = defaultDeadline }: OffThreadOptions = {},
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
    const result = await this.#queue.run(clientGroup(client), () =>
      mayStartThreads() ? this.#carryOut(call, deadline) : carryOutHere(call),
    );
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
      resourceLimits: { maxOldGenerationSizeMb: maxMegabytes },
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

/** With copies, as in another thread. */
async function carryOutHere({ module, name, args }: Call): Promise<unknown> {
  const { [name]: call }: Record<string, unknown> = await import(module);
  if (typeof call !== 'function') throw new TypeError(`${name} is no function of its module`);
  return structuredClone(await call(...(structuredClone(args) as readonly unknown[])));
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
