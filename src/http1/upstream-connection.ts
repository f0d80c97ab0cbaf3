import type { Socket } from 'node:net';
import type { Exchange } from '../dataplane/exchange.ts';
import { type ErrorEntry, errors } from '../errors.ts';
import type { UpstreamTimeouts } from '../plugin-sdk/attempts.ts';
import type { UpstreamLink } from '../upstream/upstream-link.ts';
import { monotonic } from '../util/clock.ts';
import { Deadline } from '../util/deadlines.ts';
import { latin1 } from '../util/latin1.ts';
import { writeCopy } from '../util/write-copy.ts';
import { BodyReader } from './body-reader.ts';
import { isBodyless } from './bodyless.ts';
import { type BodySink, broken, needMore } from './chunk-decoder.ts';
import { HeadBuffer } from './head-buffer.ts';
import { type ParsedResponse, parseResponseHead } from './parse-response.ts';
import { acceptsWebSocket } from './websocket-handshake.ts';

/** What a connection tells of the answer to the request that it carries. */
export interface ResponseListener {
  /** A 1xx answer; 101 comes through `responseHead`. */
  informational(exchange: Exchange, head: ParsedResponse): void;
  responseHead(exchange: Exchange, head: ParsedResponse): void;
  /** The range is valid only during the call. */
  responseBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): void;
  responseEnd(exchange: Exchange, trailers: string): void;
  /** No more bytes for now. */
  responseIdle(exchange: Exchange): void;
  /** The backend can take more of the request body. */
  upstreamDrained(exchange: Exchange): void;
  /** The exchange failed on this connection, which is closed. `silent`: no byte of an answer had come. */
  upstreamFailed(exchange: Exchange, error: ErrorEntry, silent: boolean, reused: boolean): void;
  /** An exception that nobody expected, on the way of this exchange's answer. */
  unexpected(exchange: Exchange | null, error: unknown): void;
}

/** Gives connections back to where they came from. */
export interface UpstreamOwner {
  readonly listener: ResponseListener;
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
  released(connection: UpstreamConnection): void;
  closed(connection: UpstreamConnection): void;
}

/** A flood of 1xx answers ends here. */
const maxInformational = 20;
const maxJoinedBytes = 16_384;

const noTimeouts: UpstreamTimeouts = Object.freeze({ connect: 0, send: 0, firstByte: 0, idle: 0, total: 0 });

const Mode = { idle: 0, head: 1, body: 2, tunnel: 3, closed: 4 } as const;
type Mode = (typeof Mode)[keyof typeof Mode];

/** One connection to a backend: writes a request, reads its answer, and is used again when both are whole. */
export class UpstreamConnection implements UpstreamLink {
  readonly socket: Socket;
  readonly #owner: UpstreamOwner;
  #mode: Mode = Mode.idle;
  #exchange: Exchange | null = null;
  /** Requests carried so far, the present one included. */
  requests = 0;
  /** It has been idle in the pool. */
  #kept = false;
  readonly #partial = new HeadBuffer();
  #informational = 0;
  /** No byte of the answer to the present request has come. */
  #silent = true;
  readonly #body = new BodyReader();
  readonly #sink: BodySink;
  #requestChunked = false;
  #requestComplete = true;
  #keepAlive = true;
  #timeouts: UpstreamTimeouts = noTimeouts;
  readonly #deadline = new Deadline(() => this.#expired());
  #waitingFor: 'read' | 'write' = 'read';
  /** Not read on, because the client does not take what came. */
  #paused = false;

  constructor(socket: Socket, owner: UpstreamOwner) {
    this.socket = socket;
    this.#owner = owner;
    this.#sink = {
      bodyData: (bytes, start, end) => {
        if (this.#exchange !== null) this.#owner.listener.responseBody(this.#exchange, bytes, start, end);
      },
    };
  }

  get usable(): boolean {
    return this.#mode === Mode.idle && !this.socket.destroyed;
  }

  /** The connection was kept idle, so the backend may have closed it meanwhile. */
  get reused(): boolean {
    return this.#kept;
  }

  send(exchange: Exchange, head: string, bodyLength: number, timeouts: UpstreamTimeouts, now: number): void {
    this.#exchange = exchange;
    this.#mode = Mode.head;
    this.requests++;
    this.#silent = true;
    this.#informational = 0;
    this.#keepAlive = true;
    this.#requestChunked = bodyLength < 0;
    this.#requestComplete = bodyLength === 0;
    this.#timeouts = timeouts;
    this.socket.write(head, 'latin1');
    // The backend is not waited for while it is the client who still sends.
    if (this.#requestComplete) this.#wait('read', now);
  }

  // Request body

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    const exchange = this.#exchange;
    if (exchange === null || this.#mode === Mode.closed) return;
    const size = end - start;
    let open: boolean;
    if (size <= maxJoinedBytes) {
      const data = latin1(bytes, start, end);
      const raw = this.#requestChunked && this.#mode !== Mode.tunnel ? `${size.toString(16)}\r\n${data}\r\n` : data;
      open = this.socket.write(raw, 'latin1');
    } else {
      const chunked = this.#requestChunked && this.#mode !== Mode.tunnel;
      if (chunked) this.socket.write(`${size.toString(16)}\r\n`, 'latin1');
      open = writeCopy(this.socket, bytes, start, end);
      if (chunked) open = this.socket.write('\r\n', 'latin1');
    }
    if (!open) {
      this.#wait('write', monotonic());
      exchange.downstream.pauseBody(exchange);
    } else if (this.#mode === Mode.tunnel) this.#wait('read', monotonic());
  }

  bodyEnd(trailers: string): void {
    if (this.#mode === Mode.tunnel) {
      this.socket.end();
      return;
    }
    if (this.#exchange === null || this.#requestComplete) return;
    if (this.#requestChunked) this.socket.write(`0\r\n${trailers}\r\n`, 'latin1');
    this.#requestComplete = true;
    const blocked = this.#waitingFor === 'write' && this.#deadline.pending;
    if (this.#mode === Mode.head && !blocked) this.#wait('read', monotonic());
  }

  writable(): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    if (this.#waitingFor === 'write') {
      this.#deadline.clear();
      if (this.#requestComplete || this.#mode !== Mode.head) this.#wait('read', monotonic());
    }
    this.#owner.listener.upstreamDrained(exchange);
  }

  // Answer

  /** Takes what came from the socket; the bytes are used only during the call. */
  received(bytes: Uint8Array, length: number): void {
    const exchange = this.#exchange;
    try {
      this.#feed(bytes, length);
    } catch (error) {
      this.destroy();
      this.#owner.listener.unexpected(exchange, error);
    }
  }

  #feed(bytes: Uint8Array, length: number): void {
    let at = 0;
    this.#silent = false;
    while (at < length) {
      switch (this.#mode) {
        case Mode.head:
          at = this.#readHead(bytes, at, length);
          break;
        case Mode.body: {
          const next = this.#body.feed(bytes, at, length, this.#sink);
          if (this.#mode !== Mode.body) return;
          if (next === broken) {
            this.#fail(errors.badResponse);
            return;
          }
          if (next === needMore) {
            at = length;
            this.#wait('read', monotonic());
          } else {
            at = next;
            this.#complete(at < length);
            return;
          }
          break;
        }
        case Mode.tunnel:
          this.#wait('read', monotonic());
          if (this.#exchange !== null) this.#owner.listener.responseBody(this.#exchange, bytes, at, length);
          at = length;
          break;
        default:
          // An answer nobody asked for: the next request would get it (response splitting).
          this.destroy();
          return;
      }
    }
    const exchange = this.#exchange;
    if (exchange !== null && this.#mode !== Mode.head) this.#owner.listener.responseIdle(exchange);
  }

  #readHead(bytes: Uint8Array, start: number, end: number): number {
    const { maxHeadSize, maxHeaderCount } = this.#owner;
    const text = this.#partial.read(bytes, start, end, maxHeadSize);
    if (text === null) {
      if (this.#partial.text.length > maxHeadSize) this.#fail(errors.responseTooLarge);
      else if (!plausible(this.#partial.text)) this.#fail(errors.badResponse);
      return end;
    }
    const head = parseResponseHead(text, maxHeaderCount);
    const exchange = this.#exchange as Exchange;
    if (head === null || (head.status === 101 && !acceptsWebSocket(head, exchange.handshakeKey))) {
      this.#fail(errors.badResponse);
      return end;
    }
    const used = this.#partial.next;
    if (head.status < 200 && head.status !== 101) {
      if (++this.#informational > maxInformational) {
        this.#fail(errors.badResponse);
        return end;
      }
      this.#owner.listener.informational(exchange, head);
      return used;
    }
    this.#begin(exchange, head);
    if (this.#mode === Mode.body && this.#body.complete) {
      this.#complete(used < end);
      return end;
    }
    return used;
  }

  #begin(exchange: Exchange, head: ParsedResponse): void {
    this.#keepAlive = head.keepAlive;
    if (head.status === 101) {
      this.#mode = Mode.tunnel;
      this.#keepAlive = false;
      this.#requestComplete = true;
    } else {
      this.#mode = Mode.body;
      const method = exchange.upstreamMethod ?? exchange.head.method;
      this.#body.begin(isBodyless(method, head.status) ? 0 : head.bodyLength);
    }
    this.#wait('read', monotonic());
    this.#owner.listener.responseHead(exchange, head);
  }

  /** `junk`: bytes came behind the answer; they belong to nothing, so the connection cannot be trusted again. */
  #complete(junk: boolean): void {
    const exchange = this.#exchange as Exchange;
    const trailers = this.#body.trailers;
    this.#exchange = null;
    this.#deadline.clear();
    if (this.#paused) {
      this.#paused = false;
      this.socket.resume();
    }
    if (this.#keepAlive && this.#requestComplete && !junk && !this.socket.destroyed) {
      this.#mode = Mode.idle;
      this.#owner.released(this);
    } else this.destroy();
    exchange.upstream = null;
    this.#owner.listener.responseEnd(exchange, trailers);
  }

  /** The backend has ended its side. */
  ended(): void {
    const exchange = this.#exchange;
    try {
      this.#end(exchange);
    } catch (error) {
      this.destroy();
      this.#owner.listener.unexpected(exchange, error);
    }
  }

  #end(exchange: Exchange | null): void {
    if (this.#mode === Mode.tunnel && exchange !== null) {
      this.#exchange = null;
      this.destroy();
      exchange.upstream = null;
      this.#owner.listener.responseEnd(exchange, '');
    } else if (this.#mode === Mode.body && this.#body.endsWithConnection) {
      this.#keepAlive = false;
      this.#complete(false);
    } else if (exchange !== null) this.#fail(errors.upstreamClosed);
    else this.destroy();
  }

  /** The socket is closed, for whatever reason. */
  closed(): void {
    const exchange = this.#exchange;
    if (exchange !== null) this.#fail(errors.upstreamClosed);
    this.#mode = Mode.closed;
    this.#deadline.clear();
    this.#owner.closed(this);
  }

  /** Gives up the present exchange without telling anybody, and closes. */
  destroy(): void {
    this.#exchange = null;
    this.#mode = Mode.closed;
    this.#deadline.clear();
    this.socket.destroy();
  }

  pause(): void {
    this.#paused = true;
    if (this.#waitingFor === 'read') this.#deadline.clear();
    this.socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#wait('read', monotonic());
    this.socket.resume();
  }

  /** Idle in the pool: closes when nobody takes it within the time. */
  park(milliseconds: number, now: number): void {
    this.#waitingFor = 'read';
    this.#deadline.set(milliseconds, now);
  }

  unpark(): void {
    this.#kept = true;
    this.#deadline.clear();
  }

  #wait(forWhat: 'read' | 'write', now: number): void {
    if (this.#paused && forWhat === 'read') return;
    this.#waitingFor = forWhat;
    const { send, firstByte, idle } = this.#timeouts;
    this.#deadline.set(forWhat === 'write' ? send : this.#mode === Mode.head ? firstByte : idle, now);
  }

  #expired(): void {
    if (this.#exchange === null) this.destroy();
    else if (this.#waitingFor === 'write') this.#fail(errors.sendTimeout);
    else this.#fail(this.#mode === Mode.head ? errors.firstByteTimeout : errors.idleTimeout);
  }

  #fail(error: ErrorEntry): void {
    const exchange = this.#exchange as Exchange;
    const silent = this.#silent;
    this.destroy();
    exchange.upstream = null;
    try {
      this.#owner.listener.upstreamFailed(exchange, error, silent, this.reused);
    } catch (cause) {
      this.#owner.listener.unexpected(exchange, cause);
    }
  }
}

/** Could these bytes begin a response head? Refuses early what would only run into the time-out. */
function plausible(text: string): boolean {
  if (text.length <= 9) return 'HTTP/1.1 '.startsWith(text) || 'HTTP/1.0 '.startsWith(text);
  return (text.startsWith('HTTP/1.1 ') || text.startsWith('HTTP/1.0 ')) && !forbidden.test(text);
}

const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[^\r]\n|\r(?=[^\n])/;
