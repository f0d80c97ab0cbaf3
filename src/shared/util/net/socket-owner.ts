import type { Socket } from 'node:net';

/** What a connection does with the events of its socket. */
export interface SocketOwner {
  /** The bytes are valid only during the call. False: stop reading until `socket.resume()`. */
  received(bytes: Uint8Array, length: number): boolean;
  ended(): void;
  closed(): void;
  writable(): void;
}

/** Passes all events of the socket to its owner, which becomes its only reader. */
export function ownSocket(socket: Socket, owner: SocketOwner): void {
  socket.on('data', (data: Buffer) => {
    if (!owner.received(data, data.byteLength)) socket.pause();
  });
  watchSocket(socket, owner);
}

/** Passes on everything but what is read. */
export function watchSocket(socket: Socket, owner: SocketOwner): void {
  socket.on('end', () => owner.ended());
  socket.on('drain', () => owner.writable());
  socket.on('close', () => owner.closed());
  // `close` reports what matters. Without a listener, a reset by the peer would be an uncaught exception.
  socket.on('error', ignore);
}

function ignore(): void {}
