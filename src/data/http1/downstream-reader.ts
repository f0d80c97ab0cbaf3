import type { Socket } from 'node:net';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { asBuffer } from '../../shared/util/bytes/as-buffer.ts';
import { ByteCollector } from '../../shared/util/bytes/byte-collector.ts';
import { MinimumRate } from '../../shared/util/bytes/minimum-rate.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import type { DownstreamHost } from '../request/downstream-host.ts';
import type { DownstreamPeer, Exchange } from '../request/exchange.ts';
import { BodyReader, discard, tooLarge } from './body-reader.ts';
import type { RequestBodySink } from './body-sink.ts';
import { broken, needMore } from './chunk-decoder.ts';
import { forbiddenInHead } from './grammar.ts';
import { HeadBuffer } from './head-buffer.ts';
import { parseRequestHead } from './parse-request.ts';
import { ParsedRequest } from './parsed-request.ts';
import { ResponseWriter } from './response-writer.ts';

/** Bytes kept of requests that a client sends before it has its answer. The socket is not read beyond them. */
const maxHeldBytes = 65_536;
/** Unread bytes of a request body that are read and dropped after an answer. A longer one closes the connection. */
export const maxDrainBytes = 262_144;
const lingerBytes = 1_048_576;

/** What the bytes from the client are. */
export const Mode = {
  /** A request head. */
  head: 0,
  /** What follows a head: kept until the body is read or the answer is complete. */
  held: 1,
  body: 2,
  /** The rest of a body whose request is answered. */
  drain: 3,
  /** Dropped: our side has ended. */
  linger: 4,
  tunnel: 5,
  closed: 6,
} as const;
export type Mode = (typeof Mode)[keyof typeof Mode];

/** The reading half of a client connection: bytes to heads, bodies and raw bytes of a tunnel. */
export abstract class DownstreamReader {
  readonly socket: Socket;
  readonly peer: DownstreamPeer;
  protected readonly host: DownstreamHost;
  protected readonly writer: ResponseWriter;
  protected mode: Mode = Mode.head;
  /** The request in flight. */
  protected exchange: Exchange | null = null;
  protected sink: RequestBodySink | null = null;
  /** A head that is not complete yet. */
  protected readonly partial = new HeadBuffer();
  protected readonly held = new ByteCollector();
  protected readonly body = new BodyReader();
  protected expectContinue = false;
  protected paused = false;
  protected bodyPaused = false;
  protected drainedBytes = 0;
  protected readonly deadline = new Deadline(() => this.expired());
  /** Made for the first body that does not arrive at once. */
  #rate: MinimumRate | null = null;
  #feeding = false;

  constructor(socket: Socket, peer: DownstreamPeer, host: DownstreamHost) {
    this.socket = socket;
    this.peer = peer;
    this.host = host;
    this.writer = new ResponseWriter(socket, host.limits.sendTimeout);
    this.deadline.set(host.limits.headTimeout, monotonic());
  }

  /** A head is complete. */
  protected abstract begin(head: ParsedRequest): void;
  /** Reads the next request. `now`: monotonic clock. */
  protected abstract next(now: number): void;
  /** Answers a message that is not a request, and closes. */
  protected abstract refuse(error: ErrorEntry, request: string | Exchange): void;
  /** Ends an exchange whose request body cannot be read. */
  protected abstract breakOff(exchange: Exchange, error: ErrorEntry): void;
  protected abstract expired(): void;

  /** Takes bytes from the socket; they are used only during the call. False: stop reading. */
  received(bytes: Uint8Array, length: number): boolean {
    this.#take(bytes, length);
    return !this.paused;
  }

  #take(bytes: Uint8Array, length: number): void {
    try {
      this.#feed(bytes, 0, length);
    } catch (error) {
      this.#feeding = false;
      this.host.unexpected(this.exchange, error);
      this.socket.destroy();
    }
  }

  #feed(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    this.#feeding = true;
    while (at < end) {
      switch (this.mode) {
        case Mode.head:
          if (this.writer.blocked) {
            // A client that sends requests and does not read answers gets no more of them.
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
          this.drainedBytes += end - at;
          // Paused, not closed: closing with unread bytes would reset the connection before the client reads the answer.
          if (this.drainedBytes > lingerBytes) this.#pause();
          at = end;
          break;
        case Mode.tunnel:
          this.sink?.bodyData(bytes, at, end);
          at = end;
          break;
        default:
          at = end;
      }
    }
    this.#feeding = false;
  }

  #readHead(bytes: Uint8Array, start: number, end: number): number {
    const { maxHeadSize, maxHeaderCount } = this.host.limits;
    const begun = !this.partial.empty;
    let text = this.partial.read(bytes, start, end, maxHeadSize);
    if (text === null) {
      this.#partialHead(begun);
      return end;
    }
    // One empty line before a request line is tolerated (RFC 9112 2.2).
    if (text.startsWith('\r\n')) text = text.slice(2);
    const head = parseRequestHead(text, maxHeaderCount);
    if (!(head instanceof ParsedRequest)) {
      this.refuse(head, text);
      return end;
    }
    const used = this.partial.next;
    this.begin(head);
    return used;
  }

  /** Waits for the rest of a head; refuses at once what cannot become one. */
  #partialHead(begun: boolean): void {
    const { maxHeadSize, headTimeout } = this.host.limits;
    const { text } = this.partial;
    if (forbiddenInHead.test(text)) this.refuse(errors.badRequest, text);
    else if (text.length > maxHeadSize) {
      const line = text.indexOf('\r\n');
      this.refuse(line < 0 || line > maxHeadSize ? errors.uriTooLong : errors.headTooLarge, text);
    } else if (!begun && (this.peer.requests > 0 || this.host.draining)) this.deadline.set(headTimeout, monotonic());
  }

  #hold(bytes: Uint8Array, at: number, end: number): void {
    if (end > at) this.held.push(bytes, at, end);
    if (this.held.size > maxHeldBytes) this.#pause();
  }

  #readBody(bytes: Uint8Array, start: number, end: number): number {
    const exchange = this.exchange as Exchange;
    const sink = this.sink as RequestBodySink;
    const at = this.body.feed(bytes, start, end, sink);
    if (this.mode !== Mode.body || this.exchange !== exchange) return end;
    if (at === broken) {
      this.breakOff(exchange, errors.badRequest);
      return end;
    }
    if (at === tooLarge) {
      this.sink = null;
      this.deadline.clear();
      if (exchange.headSent) this.breakOff(exchange, errors.payloadTooLarge);
      else this.host.handler.requestBodyTooLarge(exchange);
      return end;
    }
    const size = (at === needMore ? end : at) - start;
    exchange.bytesReceived += size;
    if (at === needMore) {
      this.#awaitBody(exchange, size);
      return end;
    }
    this.deadline.clear();
    this.mode = Mode.held;
    this.sink = null;
    sink.bodyEnd(this.body.trailers);
    return at;
  }

  #awaitBody(exchange: Exchange, received: number): void {
    // The sink does not take bytes now.
    if (this.bodyPaused) return;
    const { bodyTimeout, bodyMinRate } = this.host.limits;
    const now = monotonic();
    this.deadline.set(bodyTimeout, now);
    if (bodyMinRate === 0 || exchange.headSent) return;
    if (this.#rate === null) {
      this.#rate = new MinimumRate(bodyMinRate, bodyTimeout);
      this.#rate.begin(now);
    } else if (this.#rate.isTooSlow(received, now)) this.breakOff(exchange, errors.requestTimeout);
  }

  /** The rest of a body whose request is answered. */
  #readDrained(bytes: Uint8Array, start: number, end: number): number {
    const at = this.body.feed(bytes, start, end, discard);
    this.drainedBytes += (at < 0 ? end : at) - start;
    if (at === broken || at === tooLarge || this.drainedBytes > maxDrainBytes) {
      this.socket.destroy();
      return end;
    }
    if (at === needMore) return end;
    this.next(monotonic());
    return at;
  }

  // Request body

  get bodyComplete(): boolean {
    return this.body.complete;
  }

  startBody(_exchange: Exchange, sink: RequestBodySink): void {
    if (this.body.complete) {
      sink.bodyEnd('');
      return;
    }
    if (this.expectContinue) {
      this.expectContinue = false;
      if (this.held.size === 0) this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
    }
    this.sink = sink;
    this.mode = Mode.body;
    const now = monotonic();
    this.deadline.set(this.host.limits.bodyTimeout, now);
    this.#rate?.begin(now);
    this.release();
  }

  limitBody(_exchange: Exchange, bytes: number): void {
    this.body.limit(bytes);
  }

  pauseBody(): void {
    this.bodyPaused = true;
    this.deadline.clear();
    this.#pause();
  }

  resumeBody(): void {
    if (!this.bodyPaused) return;
    this.bodyPaused = false;
    if (this.mode === Mode.body) {
      const now = monotonic();
      this.deadline.set(this.host.limits.bodyTimeout, now);
      this.#rate?.begin(now);
    }
    this.release();
  }

  /** Feeds what was held, then resumes reading. */
  protected release(): void {
    if (this.#feeding) {
      // `#feed` is running and has passed on all its bytes; what is held comes from it.
      queueMicrotask(() => this.release());
      return;
    }
    while (this.held.size > 0 && !this.bodyPaused && this.mode !== Mode.held && this.mode !== Mode.closed) {
      if (this.mode === Mode.head && this.writer.blocked) return;
      const bytes = this.held.take();
      this.#take(asBuffer(bytes), bytes.byteLength);
    }
    if (this.paused && !this.bodyPaused && this.held.size <= maxHeldBytes && this.mode !== Mode.closed) {
      this.paused = false;
      this.socket.resume();
    }
  }

  #pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.socket.pause();
  }
}
