import { Socket } from 'node:net';

/** The sockets of all connections of a store, so that those of a server that no longer answers can be closed. */
export class OpenSockets {
  readonly #sockets = new Set<Socket>();

  /** For the option `stream` of a client. */
  create(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  /** Fails the statements that are still running. */
  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
