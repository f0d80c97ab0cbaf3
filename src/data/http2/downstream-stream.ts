import type { ServerHttp2Stream, ServerStreamResponseOptions } from 'node:http2';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { latin1 } from '../../shared/util/bytes/latin1.ts';
import { writeCopy } from '../../shared/util/bytes/write-copy.ts';
import { responseLines } from '../answer/response-head.ts';
import { isBodyless } from '../http1/body-reader.ts';
import type { RequestBodySink } from '../http1/body-sink.ts';
import type { Downstream, Exchange } from '../request/exchange.ts';
import { ResetCode } from './frames/codes.ts';
import { responseFields, trailerFields } from './response-fields.ts';
import { SlowReader } from './slow-reader.ts';
import { type BodyOwner, StreamBody } from './stream-body.ts';
import type { StreamOwner } from './stream-owner.ts';
import { suppressReset } from './suppress-reset.ts';

const maxJoinedBytes = 16_384;

function doNotEnd(this: ServerHttp2Stream): ServerHttp2Stream {
  return this;
}

/** What Node's types omit. */
type RespondOptions = ServerStreamResponseOptions & { readonly sendDate: false };

const headOnly: RespondOptions = Object.freeze({ endStream: true, sendDate: false });
const headAndBody: RespondOptions = Object.freeze({ sendDate: false });
const headBodyAndTrailers: RespondOptions = Object.freeze({ waitForTrailers: true, sendDate: false });

/** One stream of a client's session: a request and its answer. */
export class DownstreamStream implements Downstream, BodyOwner {
  readonly #stream: ServerHttp2Stream;
  readonly #session: StreamOwner;
  #exchange: Exchange | null = null;
  /** Null when the request has no body. */
  readonly #body: StreamBody | null;
  /** The head of the response, until it is sent with the first bytes of the body. */
  #head: string[] | null = null;
  #bodyless = false;
  #withTrailers = false;
  #trailers = '';
  /** Created when the client does not read what was written. */
  #slow: SlowReader | null = null;
  /** How many sweeps found the stream open although the response was complete. */
  sweeps = 0;

  constructor(stream: ServerHttp2Stream, session: StreamOwner, endStream: boolean) {
    this.#stream = stream;
    this.#session = session;
    const { maxBodySize, bodyTimeout, bodyMinRate } = session.host.limits;
    const limit = maxBodySize > 0 ? maxBodySize : Number.POSITIVE_INFINITY;
    this.#body = endStream ? null : new StreamBody(stream, this, limit, bodyTimeout, bodyMinRate);
  }

  begin(exchange: Exchange): void {
    this.#exchange = exchange;
    if (exchange.head.bodyLength > 0) this.#body?.declare(exchange.head.bodyLength);
    this.#session.host.handler.request(exchange);
  }

  /** No exchange is in flight: the response is complete, or there will be none. */
  get settled(): boolean {
    return this.#exchange === null;
  }

  get bodyComplete(): boolean {
    return this.#body === null || this.#body.complete;
  }

  // Request body

  startBody(exchange: Exchange, sink: RequestBodySink): void {
    const body = this.#body;
    if (body === null || exchange.head.bodyLength === 0) {
      sink.bodyEnd('');
      return;
    }
    if (exchange.head.expectContinue && !this.#gone) this.#stream.additionalHeaders({ ':status': 100 });
    body.start(sink, false);
  }

  limitBody(_exchange: Exchange, bytes: number): void {
    this.#body?.limit(bytes);
  }

  pauseBody(): void {
    this.#body?.pause();
  }

  resumeBody(): void {
    this.#body?.resume();
  }

  startTunnel(_exchange: Exchange, sink: RequestBodySink): void {
    this.flush();
    this.#body?.start(sink, true);
  }

  bodyReceived(bytes: number): void {
    if (this.#exchange !== null) this.#exchange.bytesReceived += bytes;
  }

  bodyTooLarge(): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    if (exchange.headSent) this.#breakOff(exchange, errors.payloadTooLarge);
    else this.#session.host.handler.requestBodyTooLarge(exchange);
  }

  bodyBroken(): void {
    if (this.#exchange !== null) this.#breakOff(this.#exchange, errors.badRequest);
  }

  bodyTimedOut(): void {
    const exchange = this.#exchange;
    // Once the response has begun, both sides talk to each other, as in gRPC streams: the timeouts of the service
    // apply.
    if (exchange !== null && !exchange.headSent) this.#breakOff(exchange, errors.requestTimeout);
  }

  bodyTooSlow(): void {
    // A gRPC client may pause for any time between two messages.
    if (this.#exchange?.route?.grpc !== true) this.bodyTimedOut();
  }

  unexpected(error: unknown): void {
    this.#session.host.unexpected(this.#exchange, error);
  }

  /** Ends an exchange whose request body cannot be read any further. */
  #breakOff(exchange: Exchange, error: ErrorEntry): void {
    const { host } = this.#session;
    this.#exchange = null;
    exchange.clientAborted = true;
    host.handler.downstreamAborted(exchange);
    if (!exchange.headSent) exchange.status = error.status;
    this.#finish(exchange);
    if (exchange.headSent) this.reset(ResetCode.cancel);
    else this.refuse(error, exchange);
  }

  /** The node stops: ends an answer that could go on for ever. */
  endStream(): void {
    if (this.#exchange !== null) this.#session.host.handler.endStream(this.#exchange);
  }

  // Answering

  sendHead(exchange: Exchange, bodyLength: number): void {
    exchange.headSent = true;
    const { head } = exchange;
    // Not a valid HTTP status (RFC 9110 15), though HTTP/1.1 can carry it.
    if (exchange.status > 599) exchange.status = 502;
    // Within an extended CONNECT any 2xx means that the tunnel is open (RFC 8441 5), so no other response may have one.
    if (head.upgrade !== '' && exchange.status >= 200 && exchange.status < 300) exchange.status = 502;
    const status = exchange.status === 101 ? 200 : exchange.status;
    const fields = responseFields(status, responseLines(exchange, this.#session.host.options));
    this.#bodyless = isBodyless(head.method, status) || status === 205;
    // A 205 has no body (RFC 9110 15.3.6), and clients compare the length.
    const length = status === 205 ? 0 : bodyLength;
    if (length >= 0 && status !== 204 && exchange.status !== 101) fields.push('content-length', String(length));
    this.#withTrailers = bodyLength < 0 && head.trailers && !this.#bodyless;
    this.#head = fields;
  }

  sendBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#bodyless || end <= start || exchange !== this.#exchange) return true;
    this.flush();
    if (this.#gone) return true;
    const size = end - start;
    exchange.bytesSent += size;
    this.#session.carried();
    const open =
      size <= maxJoinedBytes
        ? this.#stream.write(latin1(bytes, start, end), 'latin1')
        : writeCopy(this.#stream, bytes, start, end);
    if (!open) this.#block();
    return open;
  }

  sendEnd(exchange: Exchange, trailers: string): void {
    if (exchange !== this.#exchange) return;
    this.#trailers = trailers;
    if (this.#head !== null && trailers !== '') this.flush();
    if (this.#head !== null) this.#respond(headOnly);
    else if (!this.#bodyless) this.#stream.end();
    this.#exchange = null;
    this.#slow?.clear();
    this.#finish(exchange);
    this.#dropBody();
  }

  flush(): void {
    if (this.#head === null) return;
    if (this.#bodyless) this.#respond(headOnly);
    else this.#respond(this.#withTrailers ? headBodyAndTrailers : headAndBody);
  }

  sendInformational(exchange: Exchange, status: number, block: string): void {
    if (exchange.headSent || this.#gone) return;
    const fields: Record<string, string | string[]> = trailerFields(block);
    fields[':status'] = String(status);
    this.#stream.additionalHeaders(fields);
  }

  abort(exchange: Exchange): void {
    if (exchange !== this.#exchange) return;
    this.#exchange = null;
    this.#finish(exchange);
    this.reset(ResetCode.internalError);
  }

  /** Answers a request that has no exchange, or no exchange any more. */
  refuse(error: ErrorEntry, request: string | Exchange): void {
    const { status, block, body } = this.#session.host.refusal(this.#session.peer, error, request);
    if (this.#gone) return;
    const fields = responseFields(status, block);
    fields.push('content-length', String(Buffer.byteLength(body)));
    if ((this.#stream as { readonly headRequest?: boolean }).headRequest === true)
      this.#stream.respond(fields, headOnly);
    else {
      this.#stream.respond(fields, headAndBody);
      this.#stream.end(body);
    }
    this.#dropBody();
  }

  /** Resets the stream, so that the client sees that the response is incomplete. */
  reset(code: number): void {
    this.#body?.stop();
    this.#slow?.clear();
    // Node ends a stream before it resets it: the client would get END_STREAM, and a truncated response that looks
    // complete.
    this.#stream.end = doNotEnd;
    this.#stream.close(code);
  }

  /** The session is about to be destroyed. */
  suppressReset(): void {
    suppressReset(this.#stream);
  }

  #respond(options: RespondOptions): void {
    const fields = this.#head as string[];
    this.#head = null;
    if (this.#gone) return;
    if (options === headBodyAndTrailers) this.#stream.once('wantTrailers', () => this.#sendTrailers());
    this.#stream.respond(fields, options);
  }

  #sendTrailers(): void {
    if (!this.#gone) this.#stream.sendTrailers(trailerFields(this.#trailers));
  }

  /** The stream or the session is closed: nothing can be sent on it. */
  get #gone(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }

  /** The response is complete: asks the client to stop sending a body that is no longer read (RFC 9113 8.1). */
  #dropBody(): void {
    if (this.#body === null) return;
    this.#body.stop();
    if (!this.#body.complete) this.#stream.close(ResetCode.noError);
  }

  #finish(exchange: Exchange): void {
    if (exchange.finished) return;
    exchange.finished = true;
    this.#session.host.handler.finished(exchange);
  }

  // Events of the stream

  /** The client has reset the stream, or disconnected, before the response was complete. */
  aborted(): void {
    const exchange = this.#exchange;
    this.#body?.stop();
    this.#slow?.clear();
    if (exchange === null) return;
    this.#exchange = null;
    exchange.clientAborted = true;
    // As in nginx; only logs show it.
    if (!exchange.headSent) exchange.status = 499;
    this.#session.host.handler.downstreamAborted(exchange);
    this.#finish(exchange);
    this.#session.streamAborted(this.#stream.rstCode);
  }

  /**
   * Nothing more happens on the stream. For a response to HEAD, whose stream Node ends at once, this is the only event.
   */
  closed(): void {
    this.aborted();
    this.#session.streamClosed(this);
  }

  #block(): void {
    this.#slow ??= new SlowReader(
      this.#stream,
      this.#session.host.limits.sendTimeout,
      () => {
        if (this.#exchange !== null) this.#session.host.handler.downstreamDrained(this.#exchange);
      },
      () => this.reset(ResetCode.cancel),
    );
    this.#slow.wait();
  }
}
