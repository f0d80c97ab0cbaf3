import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { NumberedLines } from '../../shared/util/bytes/flat-text.ts';
import { requestId } from '../../shared/util/request-ids.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { responseHead, statusText } from '../answer/response-head.ts';
import { type ClientConnection, firstRequestGrace } from '../request/downstream.ts';
import type { Downstream } from '../request/exchange.ts';
import { Exchange } from '../request/exchange.ts';
import { isBodyless } from './body-reader.ts';
import type { RequestBodySink } from './body-sink.ts';
import { DownstreamReader, Mode, maxDrainBytes } from './downstream-reader.ts';
import type { ParsedRequest } from './parsed-request.ts';
import type { BodyFraming } from './response-writer.ts';

const lingerTimeout = 2_000;
const contentLengths = new NumberedLines('Content-Length', 4096);

/** One client connection: reads requests one after the other, and writes each answer before it handles the next request. */
export class DownstreamConnection extends DownstreamReader implements Downstream, ClientConnection {
  #keepAlive = true;

  /** No request is in flight. */
  get idle(): boolean {
    return this.exchange === null && this.partial.empty;
  }

  // Socket

  /** The client has ended its side. As in nginx, a half-closed connection is an abort. */
  ended(): void {
    if (this.mode === Mode.tunnel) this.sink?.bodyEnd('');
    // The client may still be reading a complete answer.
    else if (this.mode !== Mode.linger || this.socket.writableLength === 0) this.socket.destroy();
  }

  closed(): void {
    if (this.mode === Mode.closed) return;
    this.mode = Mode.closed;
    this.deadline.clear();
    this.writer.closed();
    const exchange = this.exchange;
    if (exchange !== null) {
      this.exchange = null;
      exchange.clientAborted = true;
      // As in nginx; only logs show it.
      if (!exchange.headSent) exchange.status = 499;
      this.host.handler.downstreamAborted(exchange);
      this.#finish(exchange);
    }
    this.host.closed(this);
  }

  writable(): void {
    this.writer.drained();
    if (this.exchange !== null) this.host.handler.downstreamDrained(this.exchange);
    else this.release();
  }

  // Requests

  protected begin(head: ParsedRequest): void {
    const limits = this.host.limits;
    this.deadline.clear();
    this.peer.requests++;
    this.#keepAlive = head.keepAlive && this.peer.requests < limits.keepaliveRequests && !this.host.draining;
    this.expectContinue = head.expectContinue;
    this.body.begin(head.bodyLength, limits.maxBodySize);
    this.mode = Mode.held;
    const exchange = new Exchange(
      this,
      this.peer,
      head,
      this.host.snapshots.current,
      requestId(),
      Date.now(),
      monotonic(),
    );
    this.exchange = exchange;
    this.host.handler.request(exchange);
  }

  /** Ends an exchange whose request body cannot be read. */
  protected breakOff(exchange: Exchange, error: ErrorEntry): void {
    this.exchange = null;
    this.sink = null;
    exchange.clientAborted = true;
    this.host.handler.downstreamAborted(exchange);
    if (!exchange.headSent) exchange.status = error.status;
    this.#finish(exchange);
    if (exchange.headSent) this.socket.destroy();
    else this.refuse(error, exchange);
  }

  startTunnel(_exchange: Exchange, sink: RequestBodySink): void {
    this.flush();
    this.deadline.clear();
    this.sink = sink;
    this.mode = Mode.tunnel;
    this.#keepAlive = false;
    this.release();
  }

  // Answering

  sendHead(exchange: Exchange, bodyLength: number): void {
    exchange.headSent = true;
    const { head, status } = exchange;
    if (status === 101) {
      this.writer.begin(responseHead(exchange, '', this.host.options), 'close');
      return;
    }
    const bodyless = isBodyless(head.method, status);
    let framing: BodyFraming = bodyless ? 'none' : 'length';
    let lines = '';
    if (bodyLength >= 0) {
      if (status !== 204) lines = contentLengths.line(bodyLength);
    } else if (!bodyless && head.httpVersion === '1.1') {
      framing = 'chunked';
      lines = 'Transfer-Encoding: chunked\r\n';
    } else if (!bodyless) {
      framing = 'close';
      this.#keepAlive = false;
    }
    // After a body that the client may not send, or one too long to drain, no next request can be found safely.
    if (!this.body.complete && (this.expectContinue || this.body.left > maxDrainBytes)) this.#keepAlive = false;
    if (this.host.draining) this.#keepAlive = false;
    if (!this.#keepAlive) lines += 'Connection: close\r\n';
    else if (head.httpVersion === '1.0') lines += 'Connection: keep-alive\r\n';
    this.writer.begin(responseHead(exchange, lines, this.host.options), framing);
  }

  sendBody(exchange: Exchange, bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.writer.hasBody || end <= start) return true;
    exchange.bytesSent += end - start;
    return this.writer.body(bytes, start, end);
  }

  sendEnd(exchange: Exchange, trailers: string): void {
    if (exchange !== this.exchange) return;
    this.writer.end(trailers);
    this.exchange = null;
    this.sink = null;
    this.#finish(exchange);
    if (!this.body.complete && this.#keepAlive) {
      this.mode = Mode.drain;
      this.drainedBytes = 0;
      this.bodyPaused = false;
      this.deadline.set(this.host.limits.bodyTimeout, monotonic());
      this.release();
    } else if (this.#keepAlive) this.next(exchange.endedMono);
    else this.#linger();
  }

  flush(): void {
    this.writer.flush();
  }

  sendInformational(exchange: Exchange, status: number, block: string): void {
    if (exchange.head.httpVersion === '1.0' || exchange.headSent) return;
    this.socket.write(`HTTP/1.1 ${status} \r\n${block}\r\n`, 'latin1');
  }

  abort(exchange: Exchange): void {
    if (exchange !== this.exchange) return;
    this.exchange = null;
    this.#finish(exchange);
    this.flush();
    // A reset, not an orderly end: an HTTP/1.0 client must not take the short body for a complete one. With TLS, the missing
    // `close_notify` shows it.
    if (this.peer.tls === null) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  /** Answers a message that is not a request, and closes. */
  protected refuse(error: ErrorEntry, request: string | Exchange): void {
    this.#keepAlive = false;
    const { status, block, body } = this.host.refusal(this.peer, error, request);
    const framing = `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n`;
    this.socket.write(`${statusText(status, '')}${block}${framing}\r\n${body}`, 'latin1');
    this.#linger();
  }

  #finish(exchange: Exchange): void {
    if (exchange.finished) return;
    exchange.finished = true;
    this.host.handler.finished(exchange);
  }

  protected next(now: number): void {
    this.mode = Mode.head;
    this.bodyPaused = false;
    this.deadline.set(this.host.limits.keepaliveTimeout, now);
    if (this.held.size > 0 || this.paused) this.release();
  }

  /** Ends our side, and reads for a while: closing with unread bytes could reset the answer away (RFC 9112 9.6). */
  #linger(): void {
    this.mode = Mode.linger;
    this.drainedBytes = 0;
    this.bodyPaused = false;
    this.deadline.clear();
    this.writer.close(() => {
      if (this.mode === Mode.linger) this.deadline.set(lingerTimeout, monotonic());
    });
    if (this.held.size > 0) this.held.take();
    if (this.paused) {
      this.paused = false;
      this.socket.resume();
    }
  }

  /** Sends nothing: while the node drains, the next answer carries `Connection: close`. */
  announceEnd(): void {}

  /** A request may be on its way: only the client knows whether an idle connection can be closed. */
  closeAnnounced(): void {}

  endStreams(): void {
    if (this.exchange !== null) this.host.handler.endStream(this.exchange);
  }

  /** Closes at once when no request is in flight, else after the answer. */
  drain(): void {
    this.#keepAlive = false;
    if (!this.idle || this.mode !== Mode.head) return;
    if (this.peer.requests === 0) this.deadline.set(firstRequestGrace, monotonic());
    else this.socket.destroy();
  }

  protected expired(): void {
    if (this.mode === Mode.head && !this.partial.empty) this.refuse(errors.requestTimeout, this.partial.text);
    else if (this.mode === Mode.body && this.exchange !== null) this.breakOff(this.exchange, errors.requestTimeout);
    else this.socket.destroy();
  }
}
