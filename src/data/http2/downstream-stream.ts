import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { headBlock } from '../../shared/http2/connection/connection-sender.ts';
import { Http2Stream, type StreamConnection } from '../../shared/http2/connection/stream.ts';
import { ResetCode } from '../../shared/http2/frames/codes.ts';
import { responseLines } from '../answer/response-head.ts';
import { isBodyless } from '../http1/body-reader.ts';
import type { RequestBodySink } from '../http1/body-sink.ts';
import type { DownstreamHost } from '../request/downstream-host.ts';
import type { Downstream, DownstreamPeer, Exchange } from '../request/exchange.ts';
import { BodyWatch } from './body-watch.ts';

/** The connection of a stream. */
export interface StreamOwner extends StreamConnection {
  readonly peer: DownstreamPeer;
  readonly host: DownstreamHost;
}

/** One stream of a client's connection: a request and its answer. */
export class DownstreamStream extends Http2Stream implements Downstream {
  declare readonly connection: StreamOwner;
  /** The answer to its request has begun. */
  answering = false;
  #exchange: Exchange | null = null;
  #sink: RequestBodySink | null = null;
  /** Null when the request has no body. */
  #watch: BodyWatch | null = null;
  #bodyless = false;
  #withTrailers = false;

  constructor(connection: StreamOwner) {
    super(connection, true);
  }

  begin(exchange: Exchange): void {
    this.#exchange = exchange;
    const { handler, limits } = this.connection.host;
    if (!this.remoteEnded) {
      const { bodyLength, upgrade } = exchange.head;
      this.#watch = new BodyWatch(limits, () => this.#timedOut());
      if (bodyLength >= 0 && upgrade === '') {
        this.expectLength(bodyLength);
        this.#watch.declared();
      }
    }
    handler.request(exchange);
  }

  get bodyComplete(): boolean {
    return this.bodyRead;
  }

  // Request body

  startBody(exchange: Exchange, sink: RequestBodySink): void {
    if (this.#watch === null || exchange.head.bodyLength === 0) {
      sink.bodyEnd('');
      return;
    }
    if (exchange.head.expectContinue && !this.closed) {
      headBlock.length = 0;
      this.connection.encoder.response(headBlock, 100, '', -1);
      this.connection.sendHeaders(this, false);
    }
    this.#sink = sink;
    this.#watch.begin();
    this.startReading();
  }

  limitBody(exchange: Exchange, bytes: number): void {
    if (exchange.head.bodyLength < 0) this.#watch?.limit(bytes);
  }

  pauseBody(): void {
    this.#watch?.stop();
    this.stopReading();
  }

  resumeBody(): void {
    if (this.#sink === null) return;
    this.#watch?.begin();
    this.startReading();
  }

  startTunnel(_exchange: Exchange, sink: RequestBodySink): void {
    this.#sink = sink;
    this.#watch?.tunnel();
    this.startReading();
  }

  protected onHead(): void {}

  protected onData(bytes: Uint8Array, start: number, end: number): void {
    const exchange = this.#exchange;
    const sink = this.#sink;
    const watch = this.#watch;
    if (exchange === null || sink === null || watch === null) return;
    const size = end - start;
    if (!watch.count(size)) {
      this.#stopBody();
      if (exchange.headSent) this.#breakOff(exchange, errors.payloadTooLarge);
      else this.connection.host.handler.requestBodyTooLarge(exchange);
      return;
    }
    exchange.bytesReceived += size;
    sink.bodyData(bytes, start, end);
    if (this.#exchange === null) return;
    if (!this.reading) watch.stop();
    // A gRPC client may pause for any time between two messages.
    else if (watch.tooSlow(size) && exchange.route?.grpc !== true) this.#timedOut();
  }

  protected onEnd(trailers: string): void {
    const sink = this.#sink;
    this.#stopBody();
    sink?.bodyEnd(trailers);
  }

  #timedOut(): void {
    const exchange = this.#exchange;
    // Once the response has begun, both sides talk to each other, as in gRPC streams: the timeouts of the service
    // apply.
    if (exchange !== null && !exchange.headSent) this.#breakOff(exchange, errors.requestTimeout);
  }

  #stopBody(): void {
    this.#sink = null;
    this.#watch?.stop();
  }

  unexpected(error: unknown): void {
    const exchange = this.#exchange;
    this.connection.host.unexpected(exchange, error);
    if (exchange === null) this.reset(ResetCode.internalError);
  }

  /** Ends an exchange whose request body cannot be read any further. */
  #breakOff(exchange: Exchange, error: ErrorEntry): void {
    const { handler } = this.connection.host;
    this.#exchange = null;
    this.#stopBody();
    exchange.clientAborted = true;
    handler.downstreamAborted(exchange);
    if (!exchange.headSent) exchange.status = error.status;
    this.#finish(exchange);
    if (exchange.headSent) this.reset(ResetCode.cancel);
    else this.refuse(error, exchange);
  }

  /** The node stops: ends an answer that could go on for ever. */
  endStream(): void {
    if (this.#exchange !== null) this.connection.host.handler.endStream(this.#exchange);
  }

  // Answering

  sendHead(exchange: Exchange, bodyLength: number): void {
    exchange.headSent = true;
    this.answering = true;
    const { head } = exchange;
    // Not a valid HTTP status (RFC 9110 15), though HTTP/1.1 can carry it.
    if (exchange.status > 599) exchange.status = 502;
    // Within an extended CONNECT any 2xx means that the tunnel is open (RFC 8441 5), so no other response may have one.
    if (head.upgrade !== '' && exchange.status >= 200 && exchange.status < 300) exchange.status = 502;
    const status = exchange.status === 101 ? 200 : exchange.status;
    const lines = responseLines(exchange, this.connection.host.options);
    this.#bodyless = isBodyless(head.method, status) || status === 205;
    // A 205 has no body (RFC 9110 15.3.6), and clients compare the length.
    const length = status === 205 ? 0 : bodyLength;
    this.#withTrailers = bodyLength < 0 && head.trailers && !this.#bodyless;
    headBlock.length = 0;
    const counted = status !== 204 && exchange.status !== 101;
    this.connection.encoder.response(headBlock, status, lines, counted ? length : -1);
    this.connection.sendHeaders(this, false);
  }

  sendBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#bodyless || end <= start || exchange !== this.#exchange) return true;
    exchange.bytesSent += end - start;
    return this.connection.sendData(this, bytes, start, end);
  }

  sendEnd(exchange: Exchange, trailers: string): void {
    if (exchange !== this.#exchange) return;
    this.#exchange = null;
    this.#stopBody();
    this.connection.sendEnd(this, this.#withTrailers ? trailers : '');
    this.#finish(exchange);
  }

  /** Nothing is held back: frames leave at the end of the turn. */
  flush(): void {}

  sendInformational(exchange: Exchange, status: number, block: string): void {
    if (exchange.headSent) return;
    headBlock.length = 0;
    this.connection.encoder.response(headBlock, status, block, -1);
    this.connection.sendHeaders(this, false);
  }

  abort(exchange: Exchange): void {
    if (exchange !== this.#exchange) return;
    this.#exchange = null;
    this.#stopBody();
    this.#finish(exchange);
    // So that the client sees that the response is incomplete.
    this.reset(ResetCode.internalError);
  }

  /** Answers a request that has no exchange, or no exchange any more. `request`: its request line, or its exchange. */
  refuse(error: ErrorEntry, request: string | Exchange): void {
    const { peer, host, encoder } = this.connection;
    const { status, block, body } = host.refusal(peer, error, request);
    if (this.closed) return;
    const bytes = Buffer.from(body);
    headBlock.length = 0;
    encoder.response(headBlock, status, block, bytes.byteLength);
    this.connection.sendHeaders(this, false);
    const isHead = typeof request === 'string' ? request.startsWith('HEAD ') : request.head.method === 'HEAD';
    if (!isHead) this.connection.sendData(this, bytes, 0, bytes.byteLength);
    this.connection.sendEnd(this, '');
  }

  #finish(exchange: Exchange): void {
    if (exchange.finished) return;
    exchange.finished = true;
    this.connection.host.handler.finished(exchange);
  }

  // The rest of the connection's calls

  onDrained(): void {
    if (this.#exchange !== null) this.connection.host.handler.downstreamDrained(this.#exchange);
  }

  /** The response is complete: asks the client to stop sending a body that is no longer read (RFC 9113 8.1). */
  onSent(): void {
    if (!this.remoteEnded) this.reset(ResetCode.noError);
  }

  onReset(): void {
    const exchange = this.#exchange;
    this.#stopBody();
    if (exchange === null) return;
    this.#exchange = null;
    exchange.clientAborted = true;
    // As in nginx; only logs show it.
    if (!exchange.headSent) exchange.status = 499;
    this.connection.host.handler.downstreamAborted(exchange);
    this.#finish(exchange);
  }
}
