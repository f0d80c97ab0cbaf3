import { type Server, Socket } from 'node:net';
import { sharedReadBuffer } from '../../shared/util/bytes/read-buffer.ts';
import { type SocketOwner, watchSocket } from '../../shared/util/net/socket-owner.ts';

interface Internals {
  _handle: unknown;
  _server: Server | undefined;
}

/**
 * Reads an accepted plain socket into the worker's shared buffer. `net.Server` has no option for this, so the handle of
 * the socket moves into a new `net.Socket` with `onread`. This saves an allocation and a stream push for each read
 * (about 2 of the 15 microseconds of a request). Falls back to `data` events where the handle is not available. A null
 * owner means that the socket was taken over completely: nothing more is done with it here.
 */
export function adoptSocket(server: Server, accepted: Socket, ownerOf: (socket: Socket) => SocketOwner | null): void {
  const internals = accepted as unknown as Internals;
  const handle = internals._handle;
  // Bytes that arrived directly after a PROXY header.
  const early = accepted.readableLength > 0 ? (accepted.read() as Buffer | null) : null;
  let owner: SocketOwner | null = null;
  let socket = accepted;
  if (handle !== null && typeof handle === 'object') {
    internals._handle = null;
    internals._server = undefined;
    const options = {
      handle,
      allowHalfOpen: true,
      manualStart: true,
      onread: {
        buffer: sharedReadBuffer,
        callback: (length: number, bytes: Uint8Array): boolean =>
          owner === null ? true : owner.received(bytes, length),
      },
    };
    socket = new Socket(options as ConstructorParameters<typeof Socket>[0]);
    // Lets the server decrement its connection count when the socket closes.
    (socket as unknown as Internals)._server = server;
  } else {
    accepted.on('data', (data: Buffer) => {
      if (owner !== null && !owner.received(data, data.byteLength)) accepted.pause();
    });
  }
  owner = ownerOf(socket);
  if (owner === null) return;
  watchSocket(socket, owner);
  if (early !== null && !owner.received(early, early.byteLength)) return;
  socket.resume();
}

/**
 * Reads a TLS socket into the worker's shared buffer, as `onread` does, which a TLS server cannot set on its sockets.
 * This saves a buffer and a stream push for each read. Falls back to `data` events where the internals are not
 * available.
 */
export function adoptTlsSocket(socket: Socket, ownerOf: (socket: Socket) => SocketOwner | null): void {
  const owner = ownerOf(socket);
  if (owner === null) return;
  const early = readInto(socket, (length, bytes) => owner.received(bytes, length));
  if (early === undefined) {
    socket.on('data', (data: Buffer) => {
      if (!owner.received(data, data.byteLength)) socket.pause();
    });
  }
  watchSocket(socket, owner);
  if (early === undefined) return;
  // Bytes that arrived together with the end of the handshake.
  if (early === null || owner.received(early, early.byteLength)) socket.resume();
}

/** The symbols under which a socket keeps its `onread` state; null: this version of Node has different ones. */
const socketSymbols = findSocketSymbols();

interface SocketSymbols {
  readonly buffer: symbol;
  readonly callback: symbol;
  readonly generator: symbol;
}

function findSocketSymbols(): SocketSymbols | null {
  const probe = new Socket({ onread: { buffer: new Uint8Array(1), callback: () => true } });
  const symbols = Object.getOwnPropertySymbols(probe);
  const place = (name: string): symbol | undefined => symbols.find(({ description }) => description === name);
  const [buffer, callback, generator] = [place('kBuffer'), place('kBufferCb'), place('kBufferGen')];
  probe.destroy();
  if (buffer === undefined || callback === undefined || generator === undefined) return null;
  return { buffer, callback, generator };
}

/** Returns the bytes read before, null when there are none; undefined: not possible with this socket. */
function readInto(socket: Socket, received: (length: number, bytes: Uint8Array) => boolean): Buffer | null | undefined {
  const handle = (socket as unknown as Internals)._handle as { useUserBuffer?: (buffer: Uint8Array) => void } | null;
  if (socketSymbols === null || handle === null || typeof handle?.useUserBuffer !== 'function') return undefined;
  const early = socket.read() as Buffer | null;
  const state = socket as unknown as Record<symbol, unknown>;
  state[socketSymbols.buffer] = sharedReadBuffer;
  state[socketSymbols.callback] = received;
  state[socketSymbols.generator] = null;
  handle.useUserBuffer(sharedReadBuffer);
  return early;
}
