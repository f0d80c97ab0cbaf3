import { chmodSync, rmSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { ListenAddress } from '../../settings/settings.ts';
import type { AdminLog } from '../admin-log.ts';
import type { RunningListener, StatusFrontPlace } from '../contract.ts';
import { followConnections } from '../http/follow-connections.ts';
import { expectPreface, type StatusFront, startFront } from './start-front.ts';

export interface FrontedListener extends StatusFrontPlace {
  readonly addresses: readonly ListenAddress[];
  readonly serverHeader: string | null;
  readonly latencyHeader: boolean;
  readonly log: Pick<AdminLog, 'error'>;
}

/** Milliseconds before a front that died is restarted. */
const restartPause = 1000;

/** The app receives what the front forwards through a socket that only the owner of the prefix can reach. */
export async function listenBehindFront(listener: FrontedListener, app: FastifyInstance): Promise<RunningListener> {
  const { socketPath, log } = listener;
  const closeApp = followConnections(app);
  await app.ready();
  expectPreface(app.server);
  rmSync(socketPath, { force: true });
  await app.listen({ path: socketPath, listenTextResolver: () => '' });
  chmodSync(socketPath, 0o600);
  const fronts = new FrontKeeper(listener, log);
  try {
    const ports = await fronts.start();
    return {
      addresses: listener.addresses.map(({ ip, port }, at) => ({ ip, port: ports[at] ?? port, ssl: false })),
      close: async (graceful) => {
        fronts.stop();
        if (!graceful) await fronts.close();
        await closeApp(graceful);
        await fronts.close();
        rmSync(socketPath, { force: true });
      },
    };
  } catch (error) {
    await closeApp(false);
    throw error;
  }
}

/** Replaces a front that died. */
class FrontKeeper {
  readonly #listener: FrontedListener;
  readonly #log: Pick<AdminLog, 'error'>;
  #front: StatusFront | null = null;
  #restart: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(listener: FrontedListener, log: Pick<AdminLog, 'error'>) {
    this.#listener = listener;
    this.#log = log;
  }

  async start(): Promise<readonly number[]> {
    const { addresses, socketPath, vitals, serverHeader, latencyHeader, compileCache, startThread } = this.#listener;
    const front = await startFront({
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
      died: (error) => this.#again('the thread of the status API died', error),
    });
    this.#front = front;
    if (this.#stopped) await front.close();
    return front.ports;
  }

  stop(): void {
    this.#stopped = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#front?.stop();
  }

  async close(): Promise<void> {
    await this.#front?.close();
  }

  #again(message: string, error: Error | null): void {
    this.#log.error(message, error);
    this.#front = null;
    if (this.#stopped) return;
    this.#restart = setTimeout(() => {
      this.start().catch((cause) => this.#again('the thread of the status API cannot be started', cause as Error));
    }, restartPause).unref();
  }
}
