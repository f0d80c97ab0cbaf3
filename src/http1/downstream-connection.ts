import type { Socket } from 'node:net';
import {
  type ClientConnection,
  type Downstream,
  type DownstreamHandler,
  firstRequestGrace,
  type RequestBodySink,
} from '../dataplane/downstream.ts';
import { type DownstreamPeer, Exchange } from '../dataplane/exchange.ts';
import { type ErrorEntry, errors } from '../errors.ts';
import type { RuntimeSnapshot } from '../snapshot/runtime.ts';
import { monotonic } from '../util/clock.ts';
import { Deadline } from '../util/deadlines.ts';
import { MinimumRate } from '../util/minimum-rate.ts';
import { requestId } from '../util/request-ids.ts';
import { BodyReader, discard, tooLarge } from './body-reader.ts';
import { isBodyless } from './bodyless.ts';
import { ByteQueue } from './byte-queue.ts';
import { broken, needMore } from './chunk-decoder.ts';
import { forbiddenInHead } from './grammar.ts';
import { HeadBuffer } from './head-buffer.ts';
import { ParsedRequest, parseRequestHead } from './parse-request.ts';
import { type BodyFraming, ResponseWriter } from './response-writer.ts';

/** Bounds and time-outs of client connections. Milliseconds and bytes. */
export interface DownstreamLimits {
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
  readonly headTimeout: number;
  readonly bodyTimeout: number;
  readonly sendTimeout: number;
  readonly keepaliveTimeout: number;
  readonly keepaliveRequests: number;
  /** Minimum rate of a request body in bytes per second; 0: none. */
  readonly bodyMinRate: number;
  /** Largest request body; 0 is unlimited. */
  readonly maxBodySize: number;
}

export interface DownstreamHost {
  readonly limits: DownstreamLimits;
  readonly handler: DownstreamHandler;
  readonly snapshots: { readonly current: RuntimeSnapshot };
  /** True while the node stops: connections close after the answer in flight. */
  readonly draining: boolean;
  closed(connection: ClientConnection): void;
  /** An exception that nobody expected: it is logged, and this connection alone ends. */
  unexpected(exchange: Exchange | null, error: unknown): void;
  /** The whole head of an answer; `framing` are the lines that this connection adds. */
  responseHead(exchange: Exchange, framing: string): string;
  /**
   * Answers a request that could not be read: the body bytes and headers of the error, as a full HTTP message.
   * `request`: what there is of its head, or its exchange, which has been finished.
   */
  protocolError(connection: DownstreamConnection, error: ErrorEntry, request: string | Exchange): string;
}

/** Bytes kept of what a client sends ahead of the answer it waits for; beyond, the socket is not read. */
const maxHeldBytes = 65_536;
/** A refused request's unread body is read and dropped up to here; beyond, the connection is closed. */
const maxDrainBytes = 262_144;
const lingerTimeout = 2_000;
const lingerBytes = 1_048_576;

const Mode = { head: 0, held: 1, body: 2, drain: 3, linger: 4, tunnel: 5, closed: 6 } as const;
type Mode = (typeof Mode)[keyof typeof Mode];

/** One client connection: reads requests one after the other, and writes each answer before the next request is handled. */
export class DownstreamConnection implements Downstream, ClientConnection {
  readonly socket: Socket;
  readonly peer: DownstreamPeer;
  readonly #host: DownstreamHost;
  #mode: Mode = Mode.head;
  /** A head that is not complete yet. */
  readonly #partial = new HeadBuffer();
  readonly #held = new ByteQueue();
  readonly #body = new BodyReader();
  /** Made for the first body that does not arrive at once. */
  #rate: MinimumRate | null = null;
  #exchange: Exchange | null = null;
  #sink: RequestBodySink | null = null;
  #keepAlive = true;
  #paused = false;
  #bodyPaused = false;
  #expectContinue = false;
  #feeding = false;
  #drained = 0;
  readonly #deadline = new Deadline(() => this.#expired());
  readonly #writer: ResponseWriter;

  constructor(socket: Socket, peer: DownstreamPeer, host: DownstreamHost) {
    this.socket = socket;
    this.peer = peer;
    this.#host = host;
    this.#writer = new ResponseWriter(socket, host.limits.sendTimeout);
    this.#deadline.set(host.limits.headTimeout, monotonic());
  }

  /** No request is in flight. */
  get idle(): boolean {
    return this.#exchange === null && this.#partial.empty;
  }

  get bodyComplete(): boolean {
    return this.#body.complete;
  }

  // Reading

  /** Takes what came from the socket; the bytes are used only during the call. False: stop reading. */
  received(bytes: Uint8Array, length: number): boolean {
    this.#take(bytes, length);
    return !this.#paused;
  }

  #take(bytes: Uint8Array, length: number): void {
    try {
      this.#feed(bytes, 0, length);
    } catch (error) {
      this.#feeding = false;
      this.#host.unexpected(this.#exchange, error);
      this.socket.destroy();
    }
  }

  /** The client has ended its side. A proxy has no use for half-closed connections: it is an abort (as in nginx). */
  ended(): void {
    if (this.#mode === Mode.tunnel) this.#sink?.bodyEnd('');
    // An answer that is whole is still taken to its end.
    else if (this.#mode !== Mode.linger || this.socket.writableLength === 0) this.socket.destroy();
  }

  closed(): void {
    if (this.#mode === Mode.closed) return;
    this.#mode = Mode.closed;
    this.#deadline.clear();
    this.#writer.closed();
    const exchange = this.#exchange;
    if (exchange !== null) {
      this.#exchange = null;
      exchange.clientAborted = true;
      // As in nginx; it is seen in logs only.
      if (!exchange.headSent) exchange.status = 499;
      this.#host.handler.downstreamAborted(exchange);
      this.#finish(exchange);
    }
    this.#host.closed(this);
  }

  writable(): void {
    this.#writer.drained();
    if (this.#exchange !== null) this.#host.handler.downstreamDrained(this.#exchange);
    else this.#release();
  }

  #feed(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    this.#feeding = true;
    while (at < end) {
      switch (this.#mode) {
        case Mode.head:
          if (this.#writer.blocked) {
            // A client that sends requests and takes no answers gets no more of them made.
            this.#hold(bytes, at, end);
            at = end;
          } else at = this.#readHead(bytes, at, end);
          break;
        case Mode.held:
          this.#hold(bytes, at, end);
          at = end;
          break;
        case Mode.body:
          at = this.#readBody(bytes, at, end);
          break;
        case Mode.drain:
          at = this.#readDrained(bytes, at, end);
          break;
        case Mode.linger:
          this.#drained += end - at;
          // Not read on rather than closed: closing over unread bytes would reset the answer away.
          if (this.#drained > lingerBytes) this.#pause();
          at = end;
          break;
        case Mode.tunnel:
          this.#sink?.bodyData(bytes, at, end);
          at = end;
          break;
        default:
          at = end;
      }
    }
    this.#feeding = false;
  }

  #readHead(bytes: Uint8Array, start: number, end: number): number {
    const { maxHeadSize, maxHeaderCount } = this.#host.limits;
    const begun = !this.#partial.empty;
    let text = this.#partial.read(bytes, start, end, maxHeadSize);
    if (text === null) {
      this.#partialHead(begun);
      return end;
    }
    // One empty line before a request line is tolerated (RFC 9112 2.2).
    if (text.startsWith('\r\n')) text = text.slice(2);
    const head = parseRequestHead(text, maxHeaderCount);
    if (!(head instanceof ParsedRequest)) {
      this.#refuse(head, text);
      return end;
    }
    const used = this.#partial.next;
    this.#begin(head);
    return used;
  }

  /** Waits for the rest of a head, unless it is wrong already: what is not a head would only run into the time-out. */
  #partialHead(begun: boolean): void {
    const { maxHeadSize, headTimeout } = this.#host.limits;
    const { text } = this.#partial;
    if (forbiddenInHead.test(text)) this.#refuse(errors.badRequest, text);
    else if (text.length > maxHeadSize) {
      const line = text.indexOf('\r\n');
      this.#refuse(line < 0 || line > maxHeadSize ? errors.uriTooLong : errors.headTooLarge, text);
    } else if (!begun && (this.peer.requests > 0 || this.#host.draining)) this.#deadline.set(headTimeout, monotonic());
  }

  #begin(head: ParsedRequest): void {
    const limits = this.#host.limits;
    this.#deadline.clear();
    this.peer.requests++;
    this.#keepAlive = head.keepAlive && this.peer.requests < limits.keepaliveRequests && !this.#host.draining;
    this.#expectContinue = head.expectContinue;
    this.#body.begin(head.bodyLength, limits.maxBodySize);
    this.#mode = Mode.held;
    const exchange = new Exchange(
      this,
      this.peer,
      head,
      this.#host.snapshots.current,
      requestId(),
      Date.now(),
      monotonic(),
    );
    this.#exchange = exchange;
    this.#host.handler.request(exchange);
  }

  #hold(bytes: Uint8Array, at: number, end: number): void {
    this.#held.push(bytes, at, end);
    if (this.#held.size > maxHeldBytes) this.#pause();
  }

  #readBody(bytes: Uint8Array, start: number, end: number): number {
    const exchange = this.#exchange as Exchange;
    const sink = this.#sink as RequestBodySink;
    const at = this.#body.feed(bytes, start, end, sink);
    if (this.#mode !== Mode.body || this.#exchange !== exchange) return end;
    if (at === broken) {
      this.#breakOff(exchange, errors.badRequest);
      return end;
    }
    if (at === tooLarge) {
      this.#sink = null;
      this.#deadline.clear();
      if (exchange.headSent) this.#breakOff(exchange, errors.payloadTooLarge);
      else this.#host.handler.requestBodyTooLarge(exchange);
      return end;
    }
    const size = (at === needMore ? end : at) - start;
    exchange.bytesReceived += size;
    if (at === needMore) {
      this.#awaitBody(exchange, size);
      return end;
    }
    this.#deadline.clear();
    this.#mode = Mode.held;
    this.#sink = null;
    sink.bodyEnd(this.#body.trailers);
    return at;
  }

  #awaitBody(exchange: Exchange, received: number): void {
    // The sink has stopped reading.
    if (this.#bodyPaused) return;
    const { bodyTimeout, bodyMinRate } = this.#host.limits;
    const now = monotonic();
    this.#deadline.set(bodyTimeout, now);
    if (bodyMinRate === 0 || exchange.headSent) return;
    if (this.#rate === null) {
      this.#rate = new MinimumRate(bodyMinRate, bodyTimeout);
      this.#rate.begin(now);
    } else if (this.#rate.isTooSlow(received, now)) this.#breakOff(exchange, errors.requestTimeout);
  }

  /** The rest of a body whose request is answered already. */
  #readDrained(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#body.feed(bytes, start, end, discard);
    this.#drained += (at < 0 ? end : at) - start;
    if (at === broken || at === tooLarge || this.#drained > maxDrainBytes) {
      this.socket.destroy();
      return end;
    }
    if (at === needMore) return end;
    this.#next();
    return at;
  }

  /** Ends an exchange whose request body cannot be read on. */
  #breakOff(exchange: Exchange, error: ErrorEntry): void {
    this.#exchange = null;
    this.#sink = null;
    exchange.clientAborted = true;
    this.#host.handler.downstreamAborted(exchange);
    if (!exchange.headSent) exchange.status = error.status;
    this.#finish(exchange);
    if (exchange.headSent) this.socket.destroy();
    else this.#refuse(error, exchange);
  }

  // Request body

  startBody(_exchange: Exchange, sink: RequestBodySink): void {
    if (this.#body.complete) {
      sink.bodyEnd('');
      return;
    }
    if (this.#expectContinue) {
      this.#expectContinue = false;
      if (this.#held.size === 0) this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
    }
    this.#sink = sink;
    this.#mode = Mode.body;
    const now = monotonic();
    this.#deadline.set(this.#host.limits.bodyTimeout, now);
    this.#rate?.begin(now);
    this.#release();
  }

  limitBody(_exchange: Exchange, bytes: number): void {
    this.#body.limit(bytes);
  }

  pauseBody(): void {
    this.#bodyPaused = true;
    this.#deadline.clear();
    this.#pause();
  }

  resumeBody(): void {
    if (!this.#bodyPaused) return;
    this.#bodyPaused = false;
    if (this.#mode === Mode.body) {
      const now = monotonic();
      this.#deadline.set(this.#host.limits.bodyTimeout, now);
      this.#rate?.begin(now);
    }
    this.#release();
  }

  startTunnel(_exchange: Exchange, sink: RequestBodySink): void {
    this.flush();
    this.#deadline.clear();
    this.#sink = sink;
    this.#mode = Mode.tunnel;
    this.#keepAlive = false;
    this.#release();
  }

  /** Feeds what was held, then reads on. */
  #release(): void {
    if (this.#feeding) {
      // The loop of `#feed` is below on the stack and has handed over all it had; what is held comes from it.
      queueMicrotask(() => this.#release());
      return;
    }
    while (this.#held.size > 0 && !this.#bodyPaused && this.#mode !== Mode.held && this.#mode !== Mode.closed) {
      if (this.#mode === Mode.head && this.#writer.blocked) return;
      const bytes = this.#held.take();
      this.#take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), bytes.byteLength);
    }
    if (this.#paused && !this.#bodyPaused && this.#held.size <= maxHeldBytes && this.#mode !== Mode.closed) {
      this.#paused = false;
      this.socket.resume();
    }
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.socket.pause();
  }

  // Answering

  sendHead(exchange: Exchange, bodyLength: number): void {
    exchange.headSent = true;
    const { head, status } = exchange;
    if (status === 101) {
      this.#writer.begin(this.#host.responseHead(exchange, ''), 'close');
      return;
    }
    const bodyless = isBodyless(head.method, status);
    let framing: BodyFraming = bodyless ? 'none' : 'length';
    let lines = '';
    if (bodyLength >= 0) {
      if (status !== 204) lines = `Content-Length: ${bodyLength}\r\n`;
    } else if (!bodyless && head.httpVersion === '1.1') {
      framing = 'chunked';
      lines = 'Transfer-Encoding: chunked\r\n';
    } else if (!bodyless) {
      framing = 'close';
      this.#keepAlive = false;
    }
    // A body that the client may or may not send, or one too long to read away, leaves no safe place for a next request.
    if (!this.#body.complete && (this.#expectContinue || this.#body.left > maxDrainBytes)) this.#keepAlive = false;
    if (this.#host.draining) this.#keepAlive = false;
    if (!this.#keepAlive) lines += 'Connection: close\r\n';
    else if (head.httpVersion === '1.0') lines += 'Connection: keep-alive\r\n';
    this.#writer.begin(this.#host.responseHead(exchange, lines), framing);
  }

  sendBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.#writer.hasBody || end <= start) return true;
    exchange.bytesSent += end - start;
    return this.#writer.body(bytes, start, end);
  }

  sendEnd(exchange: Exchange, trailers: string): void {
    if (exchange !== this.#exchange) return;
    this.#writer.end(trailers);
    this.#exchange = null;
    this.#sink = null;
    this.#finish(exchange);
    if (!this.#body.complete && this.#keepAlive) {
      this.#mode = Mode.drain;
      this.#drained = 0;
      this.#bodyPaused = false;
      this.#deadline.set(this.#host.limits.bodyTimeout, monotonic());
      this.#release();
    } else if (this.#keepAlive) this.#next();
    else this.#linger();
  }

  flush(): void {
    this.#writer.flush();
  }

  sendInformational(exchange: Exchange, status: number, block: string): void {
    if (exchange.head.httpVersion === '1.0' || exchange.headSent) return;
    this.socket.write(`HTTP/1.1 ${status} \r\n${block}\r\n`, 'latin1');
  }

  abort(exchange: Exchange): void {
    if (exchange !== this.#exchange) return;
    this.#exchange = null;
    this.#finish(exchange);
    this.flush();
    // A reset, not an orderly end: an HTTP/1.0 client must not take the short body for a whole one. With TLS, the missing
    // `close_notify` tells it so.
    if (this.peer.tls === null) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  /** Answers a message that is no request, and closes. */
  #refuse(error: ErrorEntry, request: string | Exchange): void {
    this.#keepAlive = false;
    this.socket.write(this.#host.protocolError(this, error, request), 'latin1');
    this.#linger();
  }

  #finish(exchange: Exchange): void {
    if (exchange.finished) return;
    exchange.finished = true;
    this.#host.handler.finished(exchange);
  }

  #next(): void {
    this.#mode = Mode.head;
    this.#bodyPaused = false;
    this.#deadline.set(this.#host.limits.keepaliveTimeout, monotonic());
    if (this.#held.size > 0 || this.#paused) this.#release();
  }

  /** Ends our side, and reads on for a while: closing with unread bytes would reset the answer away (RFC 9112 9.6). */
  #linger(): void {
    this.#mode = Mode.linger;
    this.#drained = 0;
    this.#bodyPaused = false;
    this.#deadline.clear();
    this.#writer.close(() => {
      if (this.#mode === Mode.linger) this.#deadline.set(lingerTimeout, monotonic());
    });
    if (this.#held.size > 0) this.#held.take();
    if (this.#paused) {
      this.#paused = false;
      this.socket.resume();
    }
  }

  /** Nothing to send: while the node drains, the next answer carries `Connection: close`. */
  announceEnd(): void {}

  /** Closes when nothing is in flight; else after the answer. */
  drain(): void {
    this.#keepAlive = false;
    if (!this.idle || this.#mode !== Mode.head) return;
    if (this.peer.requests === 0) this.#deadline.set(firstRequestGrace, monotonic());
    else this.socket.destroy();
  }

  #expired(): void {
    if (this.#mode === Mode.head && !this.#partial.empty) this.#refuse(errors.requestTimeout, this.#partial.text);
    else if (this.#mode === Mode.body && this.#exchange !== null) this.#breakOff(this.#exchange, errors.requestTimeout);
    else this.socket.destroy();
  }
}
