import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { monotonic } from '../util/clock.ts';

export interface HandshakeLimits {
  /** So many handshakes may be under way; beyond them the oldest is given up, if it has had its time. */
  readonly most: number;
  /** Milliseconds that each may take in any case, up to `mostEver` of them. */
  readonly grace: number;
  readonly mostEver: number;
}

/** For one listener of one worker. A handshake that does not get on holds some 50 kB. */
const usualLimits: HandshakeLimits = { most: 4_096, grace: 2_000, mostEver: 16_384 };

/**
 * Bounds what clients that begin a handshake and say no more can hold: the oldest of them go first. A crowd that comes back at
 * once is not touched, since each of its handshakes is young.
 */
export class PendingHandshakes {
  readonly #limits: HandshakeLimits;
  readonly #begun = new Map<Socket, number>();

  /** To be called after the server has its own listeners for `connection`; what comes before them must be called earlier. */
  constructor(server: Server, limits: HandshakeLimits = usualLimits) {
    this.#limits = limits;
    server.prependListener('connection', (socket: Socket) => this.#began(socket));
    server.prependListener('secureConnection', (socket: TLSSocket) => {
      this.#begun.delete((socket as unknown as { readonly _parent: Socket })._parent);
    });
  }

  get count(): number {
    return this.#begun.size;
  }

  /** Gives all of them up. */
  close(): void {
    for (const socket of [...this.#begun.keys()]) socket.destroy();
  }

  #began(socket: Socket): void {
    const now = monotonic();
    this.#begun.set(socket, now);
    socket.once('close', () => this.#begun.delete(socket));
    if (this.#begun.size <= this.#limits.most) return;
    const [oldest] = this.#begun;
    if (oldest === undefined) return;
    const [first, since] = oldest;
    if (now - since < this.#limits.grace && this.#begun.size <= this.#limits.mostEver) return;
    this.#begun.delete(first);
    first.destroy();
  }
}
