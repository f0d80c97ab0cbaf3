import type { Server, Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { readFirstBytes } from '../../../shared/proxy-protocol/first-bytes.ts';
import { bootstrapCode } from '../../../shared/util/process/bootstrap-code.ts';
import type { FromReadinessThread, ReadinessThreadBoot, ThreadSocket, ToReadinessThread } from './messages.ts';
import { inspectPreface, maxPrefaceLength } from './preface.ts';

export interface ReadinessThread {
  /** In the order of the addresses. */
  readonly sockets: readonly ThreadSocket[];
  /** Stops accepting connections. */
  stop(): void;
  /** The same, because another process accepts on the same sockets. */
  handOver(): void;
  close(): Promise<void>;
}

export interface StartReadinessThreadOptions extends ReadinessThreadBoot {
  readonly compileCache: string | null;
  /** Runs a function that starts a thread, with the priority of the workers. */
  readonly startThread: <T>(start: () => T) => T;
  /** The thread ended unexpectedly. */
  readonly died: (error: Error | null) => void;
}

const entry = new URL('./readiness-thread.ts', import.meta.url);
const heapLimit = 32;
/** Timeout in milliseconds for the preface, which the readiness thread sends at once. */
const prefaceTimeout = 10_000;

/**
 * Starts the thread that listens for the status API. It answers readiness itself, from shared memory: the control plane runs at a
 * lower priority than the traffic, and may be busy with a large change. Everything else is forwarded to the control plane.
 */
export async function startReadinessThread(options: StartReadinessThreadOptions): Promise<ReadinessThread> {
  const { compileCache, startThread, died, ...boot } = options;
  const thread = startThread(() => {
    return new Worker(bootstrapCode(entry, compileCache), {
      eval: true,
      workerData: boot satisfies ReadinessThreadBoot,
      name: 'sluicegate-status',
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heapLimit, maxYoungGenerationSizeMb: 4 },
    });
  });
  let ending = false;
  let failure: Error | null = null;
  thread.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  const started = Promise.withResolvers<readonly ThreadSocket[]>();
  thread.on('message', (message: FromReadinessThread) => {
    if (message.type === 'listening') started.resolve(message.sockets);
    else started.reject(new Error(message.message));
  });
  thread.on('exit', () => {
    started.reject(failure ?? new Error('the readiness thread ended'));
    if (!ending) died(failure);
  });
  const end = async (): Promise<void> => {
    ending = true;
    await thread.terminate();
  };
  try {
    const sockets = await started.promise;
    const tell = (message: ToReadinessThread): void => thread.postMessage(message);
    return { sockets, stop: () => tell('stop'), handOver: () => tell('hand-over'), close: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * From now on every connection of the server starts with the preface of the readiness thread, and reports the addresses of the client's
 * connection as its own. Call it after all listeners for `connection` are attached.
 */
export function expectPreface(server: Server): void {
  const next = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    readFirstBytes(socket, {
      inspect: inspectPreface,
      limit: maxPrefaceLength,
      timeout: prefaceTimeout,
      done: (ends) => {
        for (const [name, value] of Object.entries(ends)) Object.defineProperty(socket, name, { value });
        for (const listener of next) listener.call(server, socket);
      },
      failed: () => socket.destroy(),
    });
  });
}
