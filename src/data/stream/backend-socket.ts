import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { sharedReadBuffer } from '../../shared/util/bytes/read-buffer.ts';
import type { SocketOwner } from '../../shared/util/net/socket-owner.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import type { UpstreamTls } from '../snapshot/runtime.ts';
import { verification } from '../upstream/open-socket.ts';
import type { BackendAddress } from './backend-search.ts';

export interface ConnectOptions {
  readonly address: BackendAddress;
  /** Null: plain. */
  readonly tls: UpstreamTls | null;
  /** Milliseconds for TCP and TLS together; 0: no limit. */
  readonly timeout: number;
  /** Received bytes go to the returned owner; null: the stream is already over. */
  readonly connected: (socket: Socket) => SocketOwner | null;
  readonly failed: (timedOut: boolean, cause: string) => void;
}

/**
 * Opens a connection to a backend. Calls exactly one of the callbacks, unless the returned function was called before.
 */
export function connectBackend(options: ConnectOptions): () => void {
  let owner: SocketOwner | null = null;
  let settled = false;
  let cause = 'connection closed';
  const received = (bytes: Uint8Array, length: number): boolean => owner === null || owner.received(bytes, length);
  const socket = options.tls === null ? openPlain(options, received) : openTls(options, options.tls, received);
  const settle = (): boolean => {
    if (settled) return false;
    settled = true;
    deadline.clear();
    return true;
  };
  const fail = (timedOut: boolean): void => {
    if (!settle()) return;
    socket.destroy();
    options.failed(timedOut, timedOut ? 'connect timeout' : cause);
  };
  const deadline = new Deadline(() => fail(true));
  deadline.set(options.timeout, monotonic());
  socket.once(options.tls === null ? 'connect' : 'secureConnect', () => {
    if (settle()) owner = options.connected(socket);
  });
  socket.on('error', (error) => {
    cause = error.message;
  });
  socket.on('drain', () => owner?.writable());
  socket.on('end', () => owner?.ended());
  socket.on('close', () => {
    if (owner === null) fail(false);
    else owner.closed();
  });
  return () => {
    if (settle()) socket.destroy();
  };
}

type Received = (bytes: Uint8Array, length: number) => boolean;

function openPlain({ address }: ConnectOptions, received: Received): Socket {
  const onread = {
    buffer: sharedReadBuffer,
    callback: (length: number, bytes: Uint8Array): boolean => received(bytes, length),
  };
  return connectTcp({ host: address.ip, port: address.port, noDelay: true, allowHalfOpen: true, onread });
}

function openTls({ address }: ConnectOptions, tls: UpstreamTls, received: Received): Socket {
  const options: ConnectionOptions & { readonly allowHalfOpen: boolean } = {
    host: address.ip,
    port: address.port,
    allowHalfOpen: true,
    ...(isIP(address.host) === 0 ? { servername: address.host } : {}),
    ...verification(tls),
    ...(tls.ca === null ? {} : { ca: [...tls.ca] }),
    ...(tls.cert === null || tls.key === null ? {} : { cert: tls.cert, key: tls.key }),
  };
  const socket = connectTls(options);
  socket.setNoDelay(true);
  socket.on('data', (data: Buffer) => {
    if (!received(data, data.byteLength)) socket.pause();
  });
  return socket;
}
