import { chmodSync, rmSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { ListenAddress } from '../../../shared/settings/settings.ts';
import type { AdminLog } from '../admin-log.ts';
import type { ReadinessThreadOptions, RunningListener } from '../contract.ts';
import { trackConnections } from '../http/track-connections.ts';
import { expectPreface, type ReadinessThread, startReadinessThread } from './start-readiness-thread.ts';

export interface ReadinessListenerOptions extends ReadinessThreadOptions {
  readonly addresses: readonly ListenAddress[];
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
    const ports = await thread.start();
    return {
      addresses: listener.addresses.map(({ ip, port }, at) => ({ ip, port: ports[at] ?? port, ssl: false })),
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

  constructor(listener: ReadinessListenerOptions, log: Pick<AdminLog, 'error'>) {
    this.#listener = listener;
    this.#log = log;
  }

  async start(): Promise<readonly number[]> {
    const { addresses, socketPath, vitals, serverHeader, latencyHeader, compileCache, startThread } = this.#listener;
    const thread = await startReadinessThread({
      addresses: addresses.map(({ ip, port, backlog, ipv6only, reuseport }) => ({
        ip,
        port,
        backlog,
        ipv6only,
        reuseport,
      })),
      socketPath,
      vitals,
      serverHeader,
      latencyHeader,
      compileCache,
      startThread,
      died: (error) => this.#scheduleRestart('the readiness thread died', error),
    });
    this.#thread = thread;
    if (this.#stopped) await thread.close();
    return thread.ports;
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
