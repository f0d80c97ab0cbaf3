import type { ClientHttp2Stream } from 'node:http2';
import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { headerValue } from '../../shared/http/header-block.ts';
import { latin1 } from '../../shared/util/bytes/latin1.ts';
import { writeCopy } from '../../shared/util/bytes/write-copy.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import type { ParsedResponse } from '../http1/parse-response.ts';
import type { Exchange, UpstreamLink } from '../request/exchange.ts';
import type { ResponseListener } from '../upstream/upstream-link.ts';
import { writeTrailerLines } from './field-lines.ts';
import { ResetCode } from './frames/codes.ts';
import { requestFields, responseOf } from './upstream-fields.ts';

/** What a stream needs from its session. */
export interface StreamHost {
  readonly listener: ResponseListener;
  readonly maxHeaderCount: number;
  readonly scheme: 'http' | 'https';
  /** The session had carried a request before this stream was reserved. */
  readonly used: boolean;
  open(fields: readonly string[], endStream: boolean): ClientHttp2Stream;
  /** Bytes arrived from the backend. */
  received(): void;
  /** The backend has sent nothing since then (monotonic clock), on any stream: the session is not used again. */
  silentSince(time: number): void;
  /** The session opens no more streams. */
  readonly draining: boolean;
  /** The stream was reset because of what the backend sent on it. */
  broken(): void;
  released(): void;
}

/** Limit for a flood of 1xx responses. */
const maxInformational = 20;
const maxJoinedBytes = 16_384;
const endStreamFlag = 0x1;

const noTimeouts: UpstreamTimeouts = Object.freeze({ connect: 0, send: 0, firstByte: 0, idle: 0, total: 0 });

const Mode = { idle: 0, head: 1, body: 2, closed: 3 } as const;
type Mode = (typeof Mode)[keyof typeof Mode];

function doNotEnd(this: ClientHttp2Stream): ClientHttp2Stream {
  return this;
}

/** One request to a backend and its response, on a session that carries others too. Used once. */
export class UpstreamStream implements UpstreamLink {
  readonly #host: StreamHost;
  #stream: ClientHttp2Stream | null = null;
  #mode: Mode = Mode.idle;
  #exchange: Exchange | null = null;
  #silent = true;
  #informational = 0;
  /** Null: they have not arrived yet. */
  #trailers: string | null = '';
  #requestComplete = true;
  #blocked = false;
  #paused = false;
  #sentAt = 0;
  #timeouts: UpstreamTimeouts = noTimeouts;
  readonly #deadline = new Deadline(() => this.#guarded(() => this.#expired()));
  readonly reused: boolean;

  constructor(host: StreamHost) {
    this.#host = host;
    this.reused = host.used;
  }

  send(exchange: Exchange, head: string, bodyLength: number, timeouts: UpstreamTimeouts, now: number): void {
    this.#exchange = exchange;
    this.#mode = Mode.head;
    this.#requestComplete = bodyLength === 0;
    this.#timeouts = timeouts;
    this.#sentAt = now;
    const stream = this.#host.open(requestFields(head, this.#host.scheme), bodyLength === 0);
    this.#stream = stream;
    stream.on('headers', (_1, _2, fields: unknown) => this.#guarded(() => this.#inform(fields as string[])));
    stream.on('response', (_, flags, fields) => this.#guarded(() => this.#readHead(fields as string[], flags)));
    stream.on('trailers', (_1, _2, fields: unknown) => this.#guarded(() => this.#readTrailers(fields as string[])));
    stream.on('end', () => this.#guarded(() => this.#ended()));
    stream.on('error', ignore);
    stream.on('close', () => this.#guarded(() => this.#closed()));
    stream.on('drain', () => this.#guarded(() => this.#drained()));
    // The timeout does not run while the client is still sending.
    if (this.#requestComplete) this.#wait();
  }

  // Request body

  bodyData(bytes: Uint8Array, start: number, end: number): void {
    const stream = this.#stream;
    const exchange = this.#exchange;
    if (stream === null || exchange === null || stream.destroyed || stream.writableEnded) return;
    const open =
      end - start <= maxJoinedBytes
        ? stream.write(latin1(bytes, start, end), 'latin1')
        : writeCopy(stream, bytes, start, end);
    if (!open) {
      this.#blocked = true;
      this.#wait();
      exchange.downstream.pauseBody(exchange);
    } else if (this.#mode === Mode.body) this.#wait();
  }

  /** Trailers of requests are not forwarded: gRPC has none. */
  bodyEnd(_trailers: string): void {
    if (this.#exchange === null || this.#requestComplete) return;
    this.#requestComplete = true;
    this.#stream?.end();
    if (!this.#blocked) this.#wait();
  }

  #drained(): void {
    const exchange = this.#exchange;
    if (exchange === null || !this.#blocked) return;
    this.#blocked = false;
    this.#deadline.clear();
    if (this.#requestComplete || this.#mode === Mode.body) this.#wait();
    this.#host.listener.upstreamDrained(exchange);
  }

  // Response

  #inform(fields: readonly string[]): void {
    this.#received();
    const exchange = this.#exchange;
    if (exchange === null) return;
    const head = responseOf(fields, this.#host.maxHeaderCount);
    if (head === null || head.status >= 200 || ++this.#informational > maxInformational) this.#fail(errors.badResponse);
    else this.#host.listener.informational(exchange, head);
  }

  #readHead(fields: readonly string[], flags: number): void {
    this.#received();
    const exchange = this.#exchange;
    if (exchange === null) return;
    const head = responseOf(fields, this.#host.maxHeaderCount);
    if (head === null || head.status < 200) {
      this.#fail(errors.badResponse);
      return;
    }
    this.#mode = Mode.body;
    const whole = (flags & endStreamFlag) !== 0;
    if (!whole && isGrpc(head)) this.#trailers = null;
    this.#wait();
    this.#host.listener.responseHead(exchange, head);
    // The stream may have been abandoned there.
    if (this.#exchange === null) return;
    this.#stream?.on('data', (piece: Buffer) => this.#guarded(() => this.#data(piece)));
    if (this.#paused) this.#stream?.pause();
    if (!whole) this.#host.listener.responseIdle(exchange);
  }

  #data(piece: Buffer): void {
    this.#host.received();
    const exchange = this.#exchange;
    if (exchange === null) return;
    this.#wait();
    this.#host.listener.responseBody(exchange, piece, 0, piece.byteLength);
    if (this.#exchange !== null) this.#host.listener.responseIdle(exchange);
  }

  #readTrailers(fields: readonly string[]): void {
    this.#received();
    this.#trailers = writeTrailerLines(fields);
    if (this.#trailers === null) this.#fail(errors.badResponse);
  }

  /** Node ends a stream that was reset as if it were complete; its code, and missing trailers, tell the two apart. */
  #ended(): void {
    const stream = this.#stream;
    const exchange = this.#exchange;
    if (stream === null || exchange === null || this.#mode !== Mode.body) return;
    if (isReset(stream)) return;
    if (this.#trailers === null) {
      this.#fail(errors.upstreamClosed);
      return;
    }
    const trailers = this.#trailers;
    this.#finish();
    // The response was complete before the request: the rest of the request is not read.
    if (!this.#requestComplete) this.#reset(ResetCode.noError);
    exchange.upstream = null;
    this.#host.listener.responseEnd(exchange, trailers);
  }

  /** The stream is closed, for whatever reason. */
  #closed(): void {
    const stream = this.#stream as ClientHttp2Stream;
    const code = stream.rstCode;
    if (code === ResetCode.protocolError) this.#host.broken();
    if (this.#exchange !== null) {
      if (code === ResetCode.refusedStream || stream.id === undefined) this.#fail(errors.upstreamRefused);
      else if (code === ResetCode.protocolError) this.#fail(errors.badResponse);
      else this.#fail(errors.upstreamClosed);
    }
    this.#mode = Mode.closed;
    this.#deadline.clear();
    this.#host.released();
  }

  #received(): void {
    this.#silent = false;
    this.#host.received();
  }

  /** Abandons the exchange without notifying anyone; the backend receives a reset. */
  destroy(): void {
    this.#finish();
    if (this.#stream === null) this.#host.released();
    else this.#reset(ResetCode.cancel);
  }

  pause(): void {
    this.#paused = true;
    if (!this.#blocked) this.#deadline.clear();
    this.#stream?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#wait();
    this.#stream?.resume();
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

  #reset(code: number): void {
    const stream = this.#stream;
    if (stream === null || stream.closed || stream.destroyed) return;
    // Node would end the stream first: a truncated request would look complete.
    stream.end = doNotEnd;
    stream.resume();
    stream.close(code);
  }

  #fail(error: ErrorEntry): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    const silent = this.#silent;
    this.#finish();
    this.#reset(ResetCode.cancel);
    exchange.upstream = null;
    // A session that continues would refuse the same request again: that counts as an attempt.
    const reused = this.reused && (error !== errors.upstreamRefused || this.#host.draining);
    this.#host.listener.upstreamFailed(exchange, error, silent, reused);
  }

  /** For events of Node, above which no caller would catch an exception. */
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

function ignore(): void {}

function isReset(stream: ClientHttp2Stream): boolean {
  return stream.rstCode !== undefined && stream.rstCode !== ResetCode.noError;
}

/** Its responses carry the status of the call in trailers, and are incomplete without them. */
function isGrpc(head: ParsedResponse): boolean {
  const type = headerValue(head.block, 'content-type');
  return type?.startsWith('application/grpc') === true;
}
