import { chmodSync, rmSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { ListenAddress } from '../../../shared/settings/settings.ts';
import { descriptorsFor, type InheritedDescriptors, socketKey } from '../../../shared/sockets/listening-sockets.ts';
import type { AdminLog } from '../admin-log.ts';
import type { ReadinessThreadOptions, RunningListener } from '../contract.ts';
import { trackConnections } from '../http/track-connections.ts';
import type { ThreadSocket } from './messages.ts';
import { expectPreface, type ReadinessThread, startReadinessThread } from './start-readiness-thread.ts';

export interface ReadinessListenerOptions extends ReadinessThreadOptions {
  readonly addresses: readonly ListenAddress[];
  /** Descriptors of sockets that listen already. */
  readonly inherited: InheritedDescriptors;
  readonly serverHeader: string | null;
  readonly latencyHeader: boolean;
  readonly log: Pick<AdminLog, 'error'>;
}

/** Milliseconds before a readiness thread that died is restarted. */
const restartPause = 1000;

/** The app receives what the readiness thread forwards through a socket that only the owner of the prefix can reach. */
export async function listenBehindReadinessThread(
  listener: ReadinessListenerOptions,
  app: FastifyInstance,
): Promise<RunningListener> {
  const { socketPath, log } = listener;
  const closeApp = trackConnections(app);
  await app.ready();
  expectPreface(app.server);
  rmSync(socketPath, { force: true });
  await app.listen({ path: socketPath, listenTextResolver: () => '' });
  chmodSync(socketPath, 0o600);
  const thread = new RestartingThread(listener, log);
  try {
    const sockets = await thread.start();
    const portOf = (at: number, port: number): number => sockets[at]?.port ?? port;
    return {
      addresses: listener.addresses.map(({ ip, port }, at) => ({ ip, port: portOf(at, port), ssl: false })),
      sockets: listener.addresses.flatMap((address, at) => {
        const descriptor = sockets[at]?.descriptor ?? null;
        if (descriptor === null) return [];
        const key = socketKey({ ...address, port: portOf(at, address.port) });
        return [{ key, descriptor, reuseport: address.reuseport }];
      }),
      // The thread serves no TLS.
      setTls: () => {},
      handOver: async () => {
        thread.handOver();
        await closeApp(true);
        await thread.close();
        rmSync(socketPath, { force: true });
      },
      close: async (graceful) => {
        thread.stop();
        if (!graceful) await thread.close();
        await closeApp(graceful);
        await thread.close();
        rmSync(socketPath, { force: true });
      },
    };
  } catch (error) {
    await closeApp(false);
    throw error;
  }
}

/** Replaces a readiness thread that died. */
class RestartingThread {
  readonly #listener: ReadinessListenerOptions;
  readonly #log: Pick<AdminLog, 'error'>;
  #thread: ReadinessThread | null = null;
  #restart: NodeJS.Timeout | null = null;
  #stopped = false;
  #starts = 0;

  constructor(listener: ReadinessListenerOptions, log: Pick<AdminLog, 'error'>) {
    this.#listener = listener;
    this.#log = log;
  }

  async start(): Promise<readonly ThreadSocket[]> {
    const { addresses, inherited, socketPath, vitals, serverHeader, latencyHeader, compileCache, startThread } =
      this.#listener;
    const starting = startReadinessThread({
      addresses: addresses.map((address) => {
        const { ip, port, backlog, ipv6only, reuseport } = address;
        // A thread that replaces a dead one opens its own socket.
        const [descriptor = null] = this.#starts === 0 ? descriptorsFor(inherited, address) : [];
        return { ip, port, backlog, ipv6only, reuseport, descriptor };
      }),
      socketPath,
      vitals,
      serverHeader,
      latencyHeader,
      compileCache,
      startThread,
      died: (error) => this.#scheduleRestart('the readiness thread died', error),
    });
    this.#starts++;
    const thread = await starting;
    this.#thread = thread;
    if (this.#stopped) await thread.close();
    return thread.sockets;
  }

  handOver(): void {
    this.#stopped = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#thread?.handOver();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#thread?.stop();
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }

  #scheduleRestart(message: string, error: Error | null): void {
    this.#log.error(message, error);
    this.#thread = null;
    if (this.#stopped) return;
    this.#restart = setTimeout(() => {
      this.start().catch((cause) => this.#scheduleRestart('the readiness thread cannot be started', cause as Error));
    }, restartPause).unref();
  }
}
