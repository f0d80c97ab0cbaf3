import type { Socket } from 'node:net';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { DownstreamConnection } from '../http1/downstream-connection.ts';
import type { SocketOwner } from '../listener/accept.ts';
import { type ClientConnection, firstRequestGrace } from '../request/downstream.ts';
import type { DownstreamHost } from '../request/downstream-host.ts';
import type { DownstreamPeer } from '../request/exchange.ts';
import { DownstreamSession } from './downstream-session.ts';

/** The first bytes of a client with prior knowledge of HTTP/2 (RFC 9113 3.4). No HTTP/1.1 request begins with them. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/**
 * A plain connection whose first bytes decide between HTTP/1.1 and HTTP/2. After the decision, one connection object
 * handles all further events; this object passes them on, which a listener without `http2` does not need.
 */
export class PrefaceConnection implements SocketOwner, ClientConnection {
  readonly socket: Socket;
  readonly #peer: DownstreamPeer;
  readonly #host: DownstreamHost;
  #http1: DownstreamConnection | null = null;
  #http2: DownstreamSession | null = null;
  #seen = 0;
  #draining = false;
  readonly #deadline: Deadline;

  constructor(socket: Socket, peer: DownstreamPeer, host: DownstreamHost) {
    this.socket = socket;
    this.#peer = peer;
    this.#host = host;
    this.#deadline = new Deadline(() => socket.destroy());
    this.#deadline.set(host.limits.headTimeout, monotonic());
  }

  received(bytes: Uint8Array, length: number): boolean {
    if (this.#http1 !== null) return this.#http1.received(bytes, length);
    if (this.#http2 !== null) return true;
    let at = 0;
    while (at < length && this.#seen < preface.byteLength && bytes[at] === preface[this.#seen]) {
      at++;
      this.#seen++;
    }
    if (this.#seen === preface.byteLength) this.#beginHttp2(bytes, at, length);
    else if (at < length) return this.#beginHttp1(bytes, at, length);
    return true;
  }

  /** The bytes that matched so far are the beginning of a request all the same. */
  #beginHttp1(bytes: Uint8Array, at: number, length: number): boolean {
    this.#deadline.clear();
    const connection = new DownstreamConnection(this.socket, this.#peer, this.#host);
    this.#http1 = connection;
    if (this.#draining) connection.drain();
    const before = this.#seen - at;
    if (before > 0) connection.received(Buffer.from(preface.subarray(0, before)), before);
    return connection.received(bytes, length);
  }

  #beginHttp2(bytes: Uint8Array, at: number, length: number): void {
    this.#deadline.clear();
    // The session reads the handle of the socket itself. What was read before goes back to where it reads first.
    this.socket.pause();
    this.socket.unshift(Buffer.concat([preface, bytes.subarray(at, length)]));
    this.#http2 = new DownstreamSession(this.socket, this.#peer, this.#host);
    if (this.#draining) this.#http2.drain();
  }

  ended(): void {
    if (this.#http1 !== null) this.#http1.ended();
    // The session has its own listener for it.
    else if (this.#http2 === null) this.socket.destroy();
  }

  writable(): void {
    this.#http1?.writable();
  }

  closed(): void {
    this.#deadline.clear();
    this.#http1?.closed();
    this.#host.closed(this);
  }

  announceEnd(): void {
    this.#http2?.announceEnd();
  }

  closeAnnounced(): void {
    this.#http2?.closeAnnounced();
  }

  endStreams(): void {
    this.#http1?.endStreams();
    this.#http2?.endStreams();
  }

  drain(): void {
    if (this.#http1 !== null) this.#http1.drain();
    else if (this.#http2 !== null) this.#http2.drain();
    else this.#deadline.set(firstRequestGrace, monotonic());
    this.#draining = true;
  }
}
