import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { requestId } from '../../shared/util/request-ids.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Deadline } from '../../shared/util/time/deadlines.ts';
import { responseLines } from '../answer/response-head.ts';
import { isBodyless } from '../http1/body-reader.ts';
import type { RequestBodySink } from '../http1/body-sink.ts';
import { parseRequestHead } from '../http1/parse-request.ts';
import type { ParsedRequest } from '../http1/parsed-request.ts';
import { BodyWatch } from '../http2/body-watch.ts';
import type { DataPlane } from '../request/data-plane.ts';
import type { ClientConnection } from '../request/downstream.ts';
import type { DownstreamHost } from '../request/downstream-host.ts';
import { type Downstream, type DownstreamPeer, Exchange } from '../request/exchange.ts';
import type { OutsideAnswer, OutsideRequest } from './outside-request.ts';

/** Carries a request that another server in this thread has received. */
export function serveOutside(
  plane: Pick<DataPlane, 'attach'>,
  { head, client }: OutsideRequest,
  answer: OutsideAnswer,
): OutsideExchange {
  const exchange = plane.attach(client, (peer, host) => new OutsideExchange(peer, answer, host));
  exchange.begin(head);
  return exchange;
}

/** The client's side of a request that another server in this thread has received: no socket of the gateway, and no bytes to frame. */
export class OutsideExchange implements Downstream, ClientConnection {
  readonly socket = { destroy: (): void => this.#cutOff() };
  bodyComplete = false;
  readonly #peer: DownstreamPeer;
  readonly #answer: OutsideAnswer;
  readonly #host: DownstreamHost;
  readonly #sendDeadline = new Deadline(() => this.#cutOff());
  #exchange: Exchange | null = null;
  #sink: RequestBodySink | null = null;
  /** Null: the request has no body. */
  #watch: BodyWatch | null = null;
  /** Bytes that are missing of a body of declared length; -1: it has none. */
  #missing = -1;
  #reading = false;
  #bodyless = false;
  #closed = false;

  constructor(peer: DownstreamPeer, answer: OutsideAnswer, host: DownstreamHost) {
    this.#peer = peer;
    this.#answer = answer;
    this.#host = host;
  }

  begin(text: string): void {
    const { limits, handler, snapshots } = this.#host;
    const head = text.length > limits.maxHeadSize ? errors.headTooLarge : parseRequestHead(text, limits.maxHeaderCount);
    if (!isHead(head)) {
      this.#refuse(head, text);
      return;
    }
    // The other server answers for its connections: it has sent `100 Continue`, and does not switch to another protocol here.
    head.expectContinue = false;
    head.upgrade = '';
    head.webSocketKey = '';
    if (head.bodyLength === 0) this.bodyComplete = true;
    else {
      this.#watch = new BodyWatch(limits, () => this.#timedOut());
      this.#missing = head.bodyLength;
      if (head.bodyLength > 0) this.#watch.declared();
    }
    const exchange = new Exchange(this, this.#peer, head, snapshots.current, requestId(), Date.now(), monotonic());
    this.#exchange = exchange;
    this.#guarded(() => handler.request(exchange));
  }

  // What the other server reports

  /** A piece of the request's body, after `readBody`. */
  received(bytes: Uint8Array): void {
    const exchange = this.#exchange;
    const sink = this.#sink;
    const watch = this.#watch;
    if (exchange === null || sink === null || watch === null) return;
    const size = bytes.byteLength;
    if (this.#missing >= size) this.#missing -= size;
    else if (this.#missing >= 0) {
      this.#breakOff(exchange, errors.badRequest);
      return;
    }
    if (!watch.count(size)) {
      this.#stopBody();
      if (exchange.headSent) this.#breakOff(exchange, errors.payloadTooLarge);
      else this.#guarded(() => this.#host.handler.requestBodyTooLarge(exchange));
      return;
    }
    exchange.bytesReceived += size;
    this.#guarded(() => sink.bodyData(bytes, 0, size));
    if (this.#exchange === null) return;
    if (!this.#reading) watch.stop();
    else if (watch.tooSlow(size)) this.#timedOut();
  }

  /** The request's body is complete. */
  ended(): void {
    const exchange = this.#exchange;
    const sink = this.#sink;
    if (exchange === null || sink === null) return;
    if (this.#missing > 0) {
      this.#breakOff(exchange, errors.badRequest);
      return;
    }
    this.bodyComplete = true;
    this.#stopBody();
    this.#guarded(() => sink.bodyEnd(''));
  }

  /** The client takes more of the answer. */
  drained(): void {
    this.#sendDeadline.clear();
    const exchange = this.#exchange;
    if (exchange !== null) this.#guarded(() => this.#host.handler.downstreamDrained(exchange));
  }

  /** The client is gone before the answer was complete. */
  aborted(): void {
    const exchange = this.#exchange;
    this.#stopBody();
    if (exchange !== null) {
      this.#exchange = null;
      exchange.clientAborted = true;
      // As in nginx; only logs show it.
      if (!exchange.headSent) exchange.status = 499;
      this.#guarded(() => this.#host.handler.downstreamAborted(exchange));
      this.#finish(exchange);
    }
    this.#close();
  }

  // The request's body

  startBody(_exchange: Exchange, sink: RequestBodySink): void {
    if (this.#watch === null) {
      sink.bodyEnd('');
      return;
    }
    this.#sink = sink;
    this.#read();
  }

  limitBody(exchange: Exchange, bytes: number): void {
    if (exchange.head.bodyLength < 0) this.#watch?.limit(bytes);
  }

  pauseBody(): void {
    this.#reading = false;
    this.#watch?.stop();
    this.#answer.pauseBody();
  }

  resumeBody(): void {
    if (this.#sink !== null) this.#read();
  }

  #read(): void {
    this.#reading = true;
    this.#watch?.begin();
    this.#answer.readBody();
  }

  #stopBody(): void {
    this.#sink = null;
    this.#reading = false;
    this.#watch?.stop();
  }

  // The answer

  sendHead(exchange: Exchange, bodyLength: number): void {
    exchange.headSent = true;
    const { status, reason, head } = exchange;
    const lines = responseLines(exchange, this.#host.options);
    this.#bodyless = isBodyless(head.method, status);
    const contentLength = status === 204 ? -1 : bodyLength;
    this.#answer.head({ status, reason, lines, contentLength, hasBody: !this.#bodyless });
  }

  sendBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#bodyless || end <= start || exchange !== this.#exchange) return true;
    exchange.bytesSent += end - start;
    if (this.#answer.body(bytes, start, end)) return true;
    this.#sendDeadline.set(this.#host.limits.sendTimeout, monotonic());
    return false;
  }

  sendEnd(exchange: Exchange, trailers: string): void {
    if (exchange !== this.#exchange) return;
    this.#exchange = null;
    this.#stopBody();
    this.#answer.end(trailers);
    this.#finish(exchange);
    this.#close();
  }

  flush(): void {
    if (this.#exchange !== null) this.#answer.flush();
  }

  abort(exchange: Exchange): void {
    if (exchange !== this.#exchange) return;
    this.#exchange = null;
    this.#stopBody();
    this.#finish(exchange);
    this.#answer.abort();
    this.#close();
  }

  /** The other server sends what it wants before the answer. */
  sendInformational(): void {}

  /** Only a connection of the gateway becomes a tunnel. */
  startTunnel(exchange: Exchange): void {
    this.abort(exchange);
  }

  // The node stops

  drain(): void {}
  announceEnd(): void {}
  closeAnnounced(): void {}

  endStreams(): void {
    const exchange = this.#exchange;
    if (exchange !== null) this.#guarded(() => this.#host.handler.endStream(exchange));
  }

  /** The node does not wait any longer, or the client does not read. */
  #cutOff(): void {
    if (this.#closed) return;
    this.#answer.abort();
    this.aborted();
  }

  #timedOut(): void {
    const exchange = this.#exchange;
    // Once the answer has begun, the timeouts of the service apply.
    if (exchange !== null && !exchange.headSent) this.#breakOff(exchange, errors.requestTimeout);
  }

  /** Ends an exchange whose request body cannot be read any further. */
  #breakOff(exchange: Exchange, error: ErrorEntry): void {
    this.#exchange = null;
    this.#stopBody();
    exchange.clientAborted = true;
    this.#guarded(() => this.#host.handler.downstreamAborted(exchange));
    if (!exchange.headSent) exchange.status = error.status;
    this.#finish(exchange);
    if (exchange.headSent) {
      this.#answer.abort();
      this.#close();
    } else this.#refuse(error, exchange);
  }

  #refuse(error: ErrorEntry, request: string | Exchange): void {
    const { status, block, body } = this.#host.refusal(this.#peer, error, request);
    const bytes = Buffer.from(body);
    const isHead = typeof request === 'string' ? request.startsWith('HEAD ') : request.head.method === 'HEAD';
    this.#answer.head({ status, reason: '', lines: block, contentLength: bytes.byteLength, hasBody: !isHead });
    if (!isHead) this.#answer.body(bytes, 0, bytes.byteLength);
    this.#answer.end('');
    this.#close();
  }

  /** An exception is answered with 500, and does not reach the application. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#host.unexpected(this.#exchange, error);
    }
  }

  #finish(exchange: Exchange): void {
    if (exchange.finished) return;
    exchange.finished = true;
    this.#host.handler.finished(exchange);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sendDeadline.clear();
    this.#host.closed(this);
  }
}

function isHead(parsed: ParsedRequest | ErrorEntry): parsed is ParsedRequest {
  return 'block' in parsed;
}
