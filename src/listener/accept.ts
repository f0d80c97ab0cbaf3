import { type Server, Socket } from 'node:net';
import { sharedReadBuffer } from '../util/read-buffer.ts';

/** What a connection does with its socket's events. */
export interface SocketOwner {
  /** The bytes are valid only during the call. False: stop reading until `socket.resume()`. */
  received(bytes: Uint8Array, length: number): boolean;
  ended(): void;
  closed(): void;
  writable(): void;
}

interface Internals {
  _handle: unknown;
  _server: Server | undefined;
}

/**
 * Reads an accepted plain socket into the worker's shared buffer. `net.Server` cannot be told to do so, so the socket's
 * handle is moved into a new `net.Socket` with `onread`; it spares an allocation and a stream push for each read
 * (about 2 microseconds of a request's 15). Where the handle is not to be had, `data` events serve. An owner that is null
 * has taken the socket altogether: nothing more is done with it here.
 */
export function adoptSocket(server: Server, accepted: Socket, ownerOf: (socket: Socket) => SocketOwner | null): void {
  const internals = accepted as unknown as Internals;
  const handle = internals._handle;
  // What came right behind a PROXY header.
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
    // Lets the server count the connection out when it closes.
    (socket as unknown as Internals)._server = server;
  } else {
    accepted.on('data', (data: Buffer) => {
      if (owner !== null && !owner.received(data, data.byteLength)) accepted.pause();
    });
  }
  owner = ownerOf(socket);
  if (owner === null) return;
  watch(socket, owner);
  if (early !== null && !owner.received(early, early.byteLength)) return;
  socket.resume();
}

/**
 * Reads a TLS socket into the worker's shared buffer, as `onread` would, which sockets of a TLS server cannot be given. Spares a
 * buffer and a stream push for each read. Where that is not to be had, `data` events serve.
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
  watch(socket, owner);
  if (early === undefined) return;
  // What came together with the end of the handshake.
  if (early === null || owner.received(early, early.byteLength)) socket.resume();
}

/** The places where `onread` is kept in a socket; null: this version of Node has others. */
const places = findPlaces();

interface Places {
  readonly buffer: symbol;
  readonly callback: symbol;
  readonly generator: symbol;
}

function findPlaces(): Places | null {
  const probe = new Socket({ onread: { buffer: new Uint8Array(1), callback: () => true } });
  const symbols = Object.getOwnPropertySymbols(probe);
  const place = (name: string): symbol | undefined => symbols.find(({ description }) => description === name);
  const [buffer, callback, generator] = [place('kBuffer'), place('kBufferCb'), place('kBufferGen')];
  probe.destroy();
  if (buffer === undefined || callback === undefined || generator === undefined) return null;
  return { buffer, callback, generator };
}

/** Returns what had been read before, null for nothing; undefined: it cannot be done. */
function readInto(socket: Socket, received: (length: number, bytes: Uint8Array) => boolean): Buffer | null | undefined {
  const handle = (socket as unknown as Internals)._handle as { useUserBuffer?: (buffer: Uint8Array) => void } | null;
  if (places === null || handle === null || typeof handle?.useUserBuffer !== 'function') return undefined;
  const early = socket.read() as Buffer | null;
  Object.assign(socket, { [places.buffer]: sharedReadBuffer, [places.callback]: received, [places.generator]: null });
  handle.useUserBuffer(sharedReadBuffer);
  return early;
}

function watch(socket: Socket, owner: SocketOwner): void {
  socket.on('end', () => owner.ended());
  socket.on('drain', () => owner.writable());
  socket.on('close', () => owner.closed());
  // What matters follows with `close`; without a listener a reset by the client would be an uncaught exception.
  socket.on('error', ignore);
}

function ignore(): void {}
