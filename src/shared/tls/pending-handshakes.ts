import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { monotonic } from '../util/time/clock.ts';

export interface HandshakeLimits {
  /** Maximum handshakes in progress; above it the oldest is closed, if its grace time is over. */
  readonly max: number;
  /** Milliseconds that each may take in any case, up to `hardMax` of them. */
  readonly grace: number;
  readonly hardMax: number;
}

/** For one listener of one worker. A stalled handshake holds some 50 kB. */
const defaultLimits: HandshakeLimits = { max: 4_096, grace: 2_000, hardMax: 16_384 };

/**
 * Limits the memory of clients that begin a handshake and stall: the oldest handshakes are closed first. A burst of
 * reconnecting clients is not affected, since each of its handshakes is new.
 */
export class PendingHandshakes {
  readonly #limits: HandshakeLimits;
  readonly #begun = new Map<Socket, number>();

  /**
   * Call this after the server has its own listeners for `connection`; listeners that run before them must be attached
   * earlier.
   */
  constructor(server: Server, limits: HandshakeLimits = defaultLimits) {
    this.#limits = limits;
    server.prependListener('connection', (socket: Socket) => this.#began(socket));
    server.prependListener('secureConnection', (socket: TLSSocket) => {
      this.#begun.delete((socket as unknown as { readonly _parent: Socket })._parent);
    });
  }

  get count(): number {
    return this.#begun.size;
  }

  /** Closes all of them. */
  close(): void {
    for (const socket of [...this.#begun.keys()]) socket.destroy();
  }

  #began(socket: Socket): void {
    const now = monotonic();
    this.#begun.set(socket, now);
    socket.once('close', () => this.#begun.delete(socket));
    if (this.#begun.size <= this.#limits.max) return;
    const [oldest] = this.#begun;
    if (oldest === undefined) return;
    const [first, since] = oldest;
    if (now - since < this.#limits.grace && this.#begun.size <= this.#limits.hardMax) return;
    this.#begun.delete(first);
    first.destroy();
  }
}
