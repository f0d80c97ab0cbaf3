import type { Socket } from 'node:net';
import { preface } from '../../shared/http2/frames/codes.ts';
import type { SocketOwner } from '../../shared/util/net/socket-owner.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { DownstreamConnection } from '../http1/downstream-connection.ts';
import { type ClientConnection, firstRequestGrace } from '../request/downstream.ts';
import type { DownstreamHost } from '../request/downstream-host.ts';
import type { DownstreamPeer } from '../request/exchange.ts';
import { DownstreamSession } from './downstream-session.ts';

/**
 * A plain connection whose first bytes decide between HTTP/1.1 and HTTP/2: no HTTP/1.1 request begins with the preface. After the decision, one connection object
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
    if (this.#http2 !== null) return this.#http2.received(bytes, length);
    let at = 0;
    while (at < length && this.#seen < preface.byteLength && bytes[at] === preface[this.#seen]) {
      at++;
      this.#seen++;
    }
    if (this.#seen === preface.byteLength) return this.#beginHttp2(bytes, at, length);
    if (at < length) return this.#beginHttp1(bytes, at, length);
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

  #beginHttp2(bytes: Uint8Array, at: number, length: number): boolean {
    this.#deadline.clear();
    const session = new DownstreamSession(this.socket, this.#peer, this.#host);
    this.#http2 = session;
    if (this.#draining) session.drain();
    session.received(preface, preface.byteLength);
    return at === length || session.received(bytes.subarray(at, length), length - at);
  }

  ended(): void {
    if (this.#http1 !== null) this.#http1.ended();
    else if (this.#http2 !== null) this.#http2.ended();
    else this.socket.destroy();
  }

  writable(): void {
    this.#http1?.writable();
    this.#http2?.writable();
  }

  closed(): void {
    this.#deadline.clear();
    this.#http1?.closed();
    this.#http2?.closed();
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
