import { connect as connectTcp, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { sharedReadBuffer } from '../../shared/util/bytes/read-buffer.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { UpstreamConnection, type UpstreamOwner } from '../http1/upstream-connection.ts';
import type { UpstreamLink } from '../request/exchange.ts';
import type { UpstreamTls } from '../snapshot/runtime.ts';
import { connectCause } from './connect-cause.ts';
import { openTls } from './open-socket.ts';
import type { OpenBackend, PoolAddress } from './pool-address.ts';
import type { ResponseListener, UpstreamSource } from './upstream-link.ts';

export interface PoolOptions {
  /** Maximum idle connections for each address. */
  readonly size: number;
  /** Requests on one connection before it is closed. */
  readonly maxRequests: number;
  /** Milliseconds that an idle connection is kept. */
  readonly idleTimeout: number;
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
  /** Opens connections in place of the network. Default: the network. */
  readonly open?: OpenBackend | undefined;
}

/** Connections to one address with one TLS identity. The newest idle one is used first: it is the least likely to be stale. */
export class Pool implements UpstreamOwner, UpstreamSource {
  readonly listener: ResponseListener;
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
  readonly #address: PoolAddress;
  readonly #options: PoolOptions;
  readonly #idle: UpstreamConnection[] = [];
  #open = 0;

  constructor(address: PoolAddress, options: PoolOptions, listener: ResponseListener) {
    this.#address = address;
    this.#options = options;
    this.listener = listener;
    this.maxHeadSize = options.maxHeadSize;
    this.maxHeaderCount = options.maxHeaderCount;
  }

  /** Connections open or being opened. */
  get open(): number {
    return this.#open;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** An idle connection, or null. */
  take(): UpstreamConnection | null {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usable) {
        connection.unpark();
        return connection;
      }
    }
    return null;
  }

  giveBack(link: UpstreamLink): void {
    this.released(link as UpstreamConnection, monotonic());
  }

  released(connection: UpstreamConnection, now: number): void {
    if (this.#idle.length >= this.#options.size || connection.requests >= this.#options.maxRequests) {
      connection.destroy();
      return;
    }
    this.#idle.push(connection);
    connection.park(this.#options.idleTimeout, now);
  }

  closed(connection: UpstreamConnection): void {
    this.#open--;
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  connect(
    timeout: number,
    connected: (connection: UpstreamConnection) => void,
    failed: (error: ErrorEntry, cause: string) => void,
  ): void {
    let connection: UpstreamConnection | null = null;
    let settled = false;
    const socket = this.#openSocket(
      (bytes, length) => connection?.received(bytes, length),
      () => {
        if (settled) return;
        settled = true;
        deadline.clear();
        connection = new UpstreamConnection(socket, this);
        connected(connection);
      },
    );
    this.#open++;
    const fail = (error: ErrorEntry, cause: string): void => {
      if (settled) return;
      settled = true;
      deadline.clear();
      socket.destroy();
      failed(error, cause);
    };
    const deadline = new Deadline(() => fail(errors.connectTimeout, 'connect timeout'));
    deadline.set(timeout, monotonic());
    let cause = 'connection closed';
    socket.on('error', (error) => {
      cause = connectCause(error);
    });
    socket.on('drain', () => connection?.writable());
    socket.on('end', () => {
      if (connection === null) socket.destroy();
      else connection.ended();
    });
    socket.on('close', () => {
      if (connection === null) {
        this.#open--;
        fail(errors.connectFailed, cause);
      } else connection.closed();
    });
  }

  #openSocket(received: (bytes: Uint8Array, length: number) => void, ready: () => void): Socket {
    const { ip, port, tls } = this.#address;
    const { open } = this.#options;
    if (open !== undefined) {
      const socket = open(this.#address, 'http/1.1');
      socket.on('connect', ready);
      socket.on('data', (data: Buffer) => received(data, data.byteLength));
      return socket;
    }
    if (tls === null) {
      const onread = {
        buffer: sharedReadBuffer,
        callback: (length: number, bytes: Uint8Array): boolean => {
          received(bytes, length);
          return true;
        },
      };
      const socket = connectTcp({ host: ip, port, noDelay: true, allowHalfOpen: true, onread });
      socket.on('connect', ready);
      return socket;
    }
    return this.#openTls(tls, received, ready);
  }

  #openTls(tls: UpstreamTls, received: (bytes: Uint8Array, length: number) => void, ready: () => void): TLSSocket {
    const socket = openTls(this.#address, tls, 'http/1.1');
    socket.on('secureConnect', ready);
    socket.on('data', (data: Buffer) => received(data, data.byteLength));
    return socket;
  }

  /** Closes every idle connection. */
  close(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }
}
