import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { headerValue } from '../../shared/http/header-block.ts';
import { Http2Stream, type StreamConnection } from '../../shared/http2/connection/stream.ts';
import { ResetCode } from '../../shared/http2/frames/codes.ts';
import type { HeaderList } from '../../shared/http2/hpack/header-list.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { isBodyless } from '../http1/body-reader.ts';
import type { ParsedResponse } from '../http1/parse-response.ts';
import type { Exchange, UpstreamLink } from '../request/exchange.ts';
import type { ResponseListener } from '../upstream/upstream-link.ts';
import { responseHead } from './upstream-head.ts';

/** What a stream needs from its session. */
export interface StreamHost extends StreamConnection {
  readonly listener: ResponseListener;
  readonly maxHeaderCount: number;
  /** The session had carried a request before this stream was reserved. */
  readonly used: boolean;
  /** Opens the stream with the head of a request. False: the session has ended. */
  sendRequest(stream: UpstreamStream, head: string, endStream: boolean): boolean;
  /** A part of an answer arrived: `readIdle` of the stream is called at the end of the read. */
  answering(stream: UpstreamStream): void;
  /** The backend has sent nothing since then (monotonic clock), on any stream: the session is not used again. */
  silentSince(time: number): void;
  /** The session opens no more streams. */
  readonly draining: boolean;
  /** The stream, which was reserved, is not opened. */
  released(): void;
}

/** Limit for a flood of 1xx responses. */
const maxInformational = 20;

const noTimeouts: UpstreamTimeouts = Object.freeze({ connect: 0, send: 0, firstByte: 0, idle: 0, total: 0 });

const Mode = { idle: 0, head: 1, body: 2, closed: 3 } as const;
type Mode = (typeof Mode)[keyof typeof Mode];

/** One request to a backend and its response, on a session that carries others too. Used once. */
export class UpstreamStream extends Http2Stream implements UpstreamLink {
  readonly #host: StreamHost;
  #mode: Mode = Mode.idle;
  #exchange: Exchange | null = null;
  #silent = true;
  #informational = 0;
  /** A response without trailers is incomplete. */
  #needsTrailers = false;
  #requestComplete = true;
  #blocked = false;
  #paused = false;
  #sentAt = 0;
  #timeouts: UpstreamTimeouts = noTimeouts;
  readonly #deadline = new Deadline(() => this.#guarded(() => this.#expired()));
  readonly reused: boolean;
  /** Its response is complete: the session has forgotten the stream. */
  detached = false;

  constructor(host: StreamHost) {
    super(host, false);
    this.#host = host;
    this.reused = host.used;
  }

  send(exchange: Exchange, head: string, bodyLength: number, timeouts: UpstreamTimeouts, now: number): void {
    this.#exchange = exchange;
    this.#mode = Mode.head;
    this.#requestComplete = bodyLength === 0;
    this.#timeouts = timeouts;
    this.#sentAt = now;
    if (!this.#host.sendRequest(this, head, bodyLength === 0)) {
      // The session ended after it was chosen. The caller expects no answer before it returns.
      setImmediate(() => this.#guarded(() => this.#fail(errors.upstreamRefused)));
      return;
    }
    // The timeout does not run while the client is still sending.
    if (this.#requestComplete) this.#wait();
  }

  // Request body

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    const exchange = this.#exchange;
    if (exchange === null || this.#requestComplete || this.id === 0) return;
    if (!this.connection.sendData(this, bytes, start, end)) {
      this.#blocked = true;
      this.#wait();
      exchange.downstream.pauseBody(exchange);
    } else if (this.#mode === Mode.body) this.#wait();
  }

  /** Trailers of requests are not forwarded: gRPC has none. */
  bodyEnd(_trailers: string): void {
    if (this.#exchange === null || this.#requestComplete) return;
    this.#requestComplete = true;
    if (this.id !== 0) this.connection.sendEnd(this, '');
    if (!this.#blocked) this.#wait();
  }

  onDrained(): void {
    const exchange = this.#exchange;
    if (exchange === null || !this.#blocked) return;
    this.#blocked = false;
    this.#deadline.clear();
    if (this.#requestComplete || this.#mode === Mode.body) this.#wait();
    this.#guarded(() => this.#host.listener.upstreamDrained(exchange));
  }

  onSent(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#deadline.clear();
    this.#wait();
  }

  // Response

  protected onHead(fields: HeaderList, endStream: boolean): void {
    this.#received();
    const exchange = this.#exchange;
    if (exchange === null) return;
    if (fields.exceeded) {
      this.#fail(errors.responseTooLarge);
      return;
    }
    const head = responseHead(fields, this.#host.maxHeaderCount);
    if (head === null) this.#fail(errors.badResponse);
    else if (head.status >= 200) this.#begin(exchange, head, endStream);
    else if (endStream || ++this.#informational > maxInformational) this.#fail(errors.badResponse);
    else this.#host.listener.informational(exchange, head);
  }

  #begin(exchange: Exchange, head: ParsedResponse, whole: boolean): void {
    const bodyless = isBodyless(exchange.upstreamMethod ?? exchange.head.method, head.status);
    const length = bodyless ? 0 : head.declaredLength;
    if (whole && length > 0) {
      this.#fail(errors.badResponse);
      return;
    }
    this.headComplete();
    this.expectLength(length);
    this.#mode = Mode.body;
    this.#needsTrailers = !whole && isGrpc(head);
    this.#wait();
    this.#host.listener.responseHead(exchange, head);
    // It may have been abandoned or paused there.
    if (this.#exchange !== null && !this.#paused) this.startReading();
  }

  protected onData(bytes: Uint8Array, start: number, end: number): void {
    this.#host.answering(this);
    const exchange = this.#exchange;
    if (exchange === null) return;
    this.#wait();
    this.#host.listener.responseBody(exchange, bytes, start, end);
  }

  /** No more bytes are available for now. */
  readIdle(): void {
    const exchange = this.#exchange;
    if (exchange !== null && this.#mode === Mode.body) this.#guarded(() => this.#host.listener.responseIdle(exchange));
  }

  protected onEnd(trailers: string): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    if (this.#needsTrailers && trailers === '') {
      this.#fail(errors.upstreamClosed);
      return;
    }
    this.#finish();
    // The response was complete before the request: the rest of the request is not sent.
    if (this.detached) this.close();
    else if (!this.localEnded) this.reset(ResetCode.noError);
    else if (!this.closed) this.connection.release(this);
    exchange.upstream = null;
    this.#host.listener.responseEnd(exchange, trailers);
  }

  /** The response is complete, but the client has not read all of it. */
  get unread(): boolean {
    return this.remoteEnded && this.#mode === Mode.body;
  }

  /** Sends nothing more: the backend needs no more for its response. */
  stopSending(): void {
    this.localEnded = true;
    this.endPending = false;
    this.waiting = false;
    this.pending?.clear();
    this.pending = null;
    this.#requestComplete = true;
    this.onSent();
    this.connection.release(this);
  }

  override receiveData(bytes: Uint8Array, start: number, end: number): number {
    return this.#mode === Mode.head ? ResetCode.protocolError : super.receiveData(bytes, start, end);
  }

  override receiveDataEnd(padding: number, endStream: boolean): number {
    return this.#mode === Mode.head ? ResetCode.protocolError : super.receiveDataEnd(padding, endStream);
  }

  onReset(code: number): void {
    if (code === ResetCode.refusedStream) this.refused();
    else if (code === ResetCode.protocolError) this.#guarded(() => this.#fail(errors.badResponse));
    else this.#guarded(() => this.#fail(errors.upstreamClosed));
  }

  /** The backend has stated that it has not processed the request. */
  refused(): void {
    this.#guarded(() => this.#fail(errors.upstreamRefused));
  }

  #received(): void {
    this.#silent = false;
    this.#host.answering(this);
  }

  /** Abandons the exchange without notifying anyone; the backend receives a reset. */
  destroy(): void {
    this.#finish();
    this.#abandon();
  }

  #abandon(): void {
    if (this.closed) return;
    if (this.detached) {
      this.close();
      return;
    }
    const reserved = this.id === 0;
    this.reset(ResetCode.cancel);
    if (reserved) this.#host.released();
  }

  pause(): void {
    this.#paused = true;
    if (!this.#blocked) this.#deadline.clear();
    this.stopReading();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#wait();
    if (this.#mode === Mode.body) this.startReading();
  }

  /**
   * First waits for the backend to accept a pending write; then for its response, unless the client does not read that.
   */
  #wait(): void {
    if (this.#exchange === null) return;
    const { send, firstByte, idle } = this.#timeouts;
    if (this.#blocked) {
      if (!this.#deadline.pending) this.#deadline.set(send, monotonic());
    } else if (!this.#paused) this.#deadline.set(this.#mode === Mode.head ? firstByte : idle, monotonic());
  }

  #expired(): void {
    this.#host.silentSince(this.#sentAt);
    if (this.#blocked) this.#fail(errors.sendTimeout);
    else this.#fail(this.#mode === Mode.head ? errors.firstByteTimeout : errors.idleTimeout);
  }

  #finish(): void {
    this.#exchange = null;
    this.#deadline.clear();
    this.#mode = Mode.closed;
  }

  #fail(error: ErrorEntry): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    const silent = this.#silent;
    this.#finish();
    this.#abandon();
    exchange.upstream = null;
    // A session that continues would refuse the same request again: that counts as an attempt.
    const reused = this.reused && (error !== errors.upstreamRefused || this.#host.draining);
    this.#host.listener.upstreamFailed(exchange, error, silent, reused);
  }

  unexpected(error: unknown): void {
    const exchange = this.#exchange;
    this.destroy();
    this.#host.listener.unexpected(exchange, error);
  }

  /** For calls above which nothing would attribute an exception to the exchange. */
  #guarded(step: () => void): void {
    const exchange = this.#exchange;
    try {
      step();
    } catch (error) {
      this.destroy();
      this.#host.listener.unexpected(exchange, error);
    }
  }
}

/** Its responses carry the status of the call in trailers, and are incomplete without them. */
function isGrpc(head: ParsedResponse): boolean {
  const type = headerValue(head.block, 'content-type');
  return type?.startsWith('application/grpc') === true;
}
