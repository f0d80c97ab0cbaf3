import type { Socket } from 'node:net';
import { monotonic } from '../../../shared/util/time/clock.ts';
import { Deadline } from '../../../shared/util/time/deadlines.ts';

/** Maximum connections of all addresses together. */
const maxConnections = 512;
/** Of them, connections that the control plane serves. The others are reserved for readiness. */
const maxForwarded = 384;
/** Milliseconds for a client to read an answer, and to close a connection that ends. */
const drainTimeout = 2_000;

/**
 * The connections of the readiness thread. When there are too many, a new one replaces the least recently used one, so a client that
 * holds connections open cannot block a probe.
 */
export class ReadinessConnections {
  /** Not forwarded, the least recently used first. */
  readonly #own = new Set<Socket>();
  #forwarded = 0;

  accept(socket: Socket): void {
    // For as long as the socket lives: a reset may be reported while an answer is written.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#own.delete(socket));
    this.#own.add(socket);
    if (this.#own.size + this.#forwarded <= maxConnections) return;
    for (const oldest of this.#own) {
      oldest.destroy();
      this.#own.delete(oldest);
      return;
    }
  }

  /** The client has sent a request. */
  used(socket: Socket): void {
    if (this.#own.delete(socket)) this.#own.add(socket);
  }

  /** False: the control plane serves too many connections. */
  forward(socket: Socket): boolean {
    if (this.#forwarded >= maxForwarded || !this.#own.delete(socket)) return false;
    this.#forwarded++;
    socket.once('close', () => this.#forwarded--);
    return true;
  }

  /** Calls `next` when the client has read the answer. */
  whenRead(socket: Socket, next: () => void): void {
    if (!socket.writableNeedDrain) {
      next();
      return;
    }
    const keep = destroyAfter(socket);
    socket.once('drain', () => {
      keep();
      next();
    });
  }

  /** Ends the connection even if the client never ends its side. */
  end(socket: Socket): void {
    destroyAfter(socket);
    socket.end().resume();
  }
}

/** Returns a function that cancels it. */
function destroyAfter(socket: Socket): () => void {
  const deadline = new Deadline(() => socket.destroy());
  const clear = (): void => {
    deadline.clear();
    socket.off('close', clear);
  };
  deadline.set(drainTimeout, monotonic());
  socket.once('close', clear);
  return clear;
}
