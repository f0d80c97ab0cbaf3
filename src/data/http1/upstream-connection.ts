import type { Socket } from 'node:net';
import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { Exchange, UpstreamLink } from '../request/exchange.ts';
import type { ResponseListener } from '../upstream/upstream-link.ts';
import { BodyReader, isBodyless } from './body-reader.ts';
import type { BodySink } from './body-sink.ts';
import { broken, needMore } from './chunk-decoder.ts';
import { HeadBuffer } from './head-buffer.ts';
import { beginsResponse, type ParsedResponse, parseResponseHead } from './parse-response.ts';
import { Mode, UpstreamWriter } from './upstream-writer.ts';
import { acceptsWebSocket } from './websocket-handshake.ts';

/** Where connections come from, and are returned to. */
export interface UpstreamOwner {
  readonly listener: ResponseListener;
  readonly maxHeadSize: number;
  readonly maxHeaderCount: number;
  /** `now`: monotonic clock. */
  released(connection: UpstreamConnection, now: number): void;
  closed(connection: UpstreamConnection): void;
}

/** A flood of 1xx answers ends here. */
const maxInformational = 20;

/** One connection to a backend: writes a request, reads its answer, and is used again when both are complete. */
export class UpstreamConnection extends UpstreamWriter implements UpstreamLink {
  readonly #owner: UpstreamOwner;
  /** Requests carried so far, including the current one. */
  requests = 0;
  readonly #partial = new HeadBuffer();
  #informational = 0;
  /** No byte of the answer to the current request has arrived. */
  #silent = true;
  readonly #body = new BodyReader();
  readonly #sink: BodySink;
  #keepAlive = true;

  constructor(socket: Socket, owner: UpstreamOwner) {
    super(socket, owner.listener);
    this.#owner = owner;
    this.#sink = {
      bodyData: (bytes, start, end) => {
        if (this.exchange !== null) this.listener.responseBody(this.exchange, bytes, start, end);
      },
    };
  }

  get usable(): boolean {
    return this.mode === Mode.idle && !this.socket.destroyed;
  }

  send(exchange: Exchange, head: string, bodyLength: number, timeouts: UpstreamTimeouts, now: number): void {
    this.requests++;
    this.#silent = true;
    this.#informational = 0;
    this.#keepAlive = true;
    this.sendHead(exchange, head, bodyLength, timeouts, now);
  }

  /** Takes bytes from the socket; they are used only during the call. */
  received(bytes: Uint8Array, length: number): void {
    const exchange = this.exchange;
    try {
      this.#feed(bytes, length);
    } catch (error) {
      this.destroy();
      this.listener.unexpected(exchange, error);
    }
  }

  #feed(bytes: Uint8Array, length: number): void {
    let at = 0;
    const now = monotonic();
    this.#silent = false;
    while (at < length) {
      switch (this.mode) {
        case Mode.head:
          at = this.#readHead(bytes, at, length, now);
          break;
        case Mode.body: {
          const next = this.#body.feed(bytes, at, length, this.#sink);
          if (this.mode !== Mode.body) return;
          if (next === broken) {
            this.#fail(errors.badResponse);
            return;
          }
          if (next !== needMore) {
            this.#complete(next < length, now);
            return;
          }
          at = length;
          break;
        }
        case Mode.tunnel:
          if (this.exchange !== null) this.listener.responseBody(this.exchange, bytes, at, length);
          at = length;
          break;
        default:
          // An answer without a request: the next request would get it (response splitting).
          this.destroy();
          return;
      }
    }
    const exchange = this.exchange;
    if (exchange === null || this.mode === Mode.head) return;
    // Once for all that has arrived together.
    this.wait('read', now);
    this.listener.responseIdle(exchange);
  }

  #readHead(bytes: Uint8Array, start: number, end: number, now: number): number {
    const { maxHeadSize, maxHeaderCount } = this.#owner;
    const text = this.#partial.read(bytes, start, end, maxHeadSize);
    if (text === null) {
      if (this.#partial.text.length > maxHeadSize) this.#fail(errors.responseTooLarge);
      else if (!beginsResponse(this.#partial.text)) this.#fail(errors.badResponse);
      return end;
    }
    const head = parseResponseHead(text, maxHeaderCount);
    const exchange = this.exchange as Exchange;
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
      this.listener.informational(exchange, head);
      return used;
    }
    this.#begin(exchange, head, now);
    if (this.mode === Mode.body && this.#body.complete) {
      this.#complete(used < end, now);
      return end;
    }
    return used;
  }

  #begin(exchange: Exchange, head: ParsedResponse, now: number): void {
    this.#keepAlive = head.keepAlive;
    if (head.status === 101) {
      this.mode = Mode.tunnel;
      this.#keepAlive = false;
      this.requestComplete = true;
    } else {
      this.mode = Mode.body;
      const method = exchange.upstreamMethod ?? exchange.head.method;
      this.#body.begin(isBodyless(method, head.status) ? 0 : head.bodyLength);
    }
    // The answer has begun before the backend has taken the whole request.
    if (this.waitingFor === 'write') this.wait('read', now);
    this.listener.responseHead(exchange, head, now);
  }

  /** `junk`: bytes followed the answer. They belong to no request, so the connection cannot be trusted again. */
  #complete(junk: boolean, now: number): void {
    const exchange = this.exchange as Exchange;
    const trailers = this.#body.trailers;
    this.exchange = null;
    this.deadline.clear();
    if (this.paused) {
      this.paused = false;
      this.socket.resume();
    }
    if (this.#keepAlive && this.requestComplete && !junk && !this.socket.destroyed) {
      this.mode = Mode.idle;
      this.#owner.released(this, now);
    } else this.destroy();
    exchange.upstream = null;
    this.listener.responseEnd(exchange, trailers);
  }

  /** The backend has ended its side. */
  ended(): void {
    const exchange = this.exchange;
    try {
      this.#end(exchange);
    } catch (error) {
      this.destroy();
      this.listener.unexpected(exchange, error);
    }
  }

  #end(exchange: Exchange | null): void {
    if (this.mode === Mode.tunnel && exchange !== null) {
      this.exchange = null;
      this.destroy();
      exchange.upstream = null;
      this.listener.responseEnd(exchange, '');
    } else if (this.mode === Mode.body && this.#body.endsWithConnection) {
      this.#keepAlive = false;
      this.#complete(false, monotonic());
    } else if (exchange !== null) this.#fail(errors.upstreamClosed);
    else this.destroy();
  }

  /** The socket is closed, for whatever reason. */
  closed(): void {
    const exchange = this.exchange;
    if (exchange !== null) this.#fail(errors.upstreamClosed);
    this.mode = Mode.closed;
    this.deadline.clear();
    this.#owner.closed(this);
  }

  /** Closes. The listener receives nothing more of the exchange. */
  destroy(): void {
    this.exchange = null;
    this.mode = Mode.closed;
    this.deadline.clear();
    this.socket.destroy();
  }

  protected expired(): void {
    if (this.exchange === null) this.destroy();
    else if (this.waitingFor === 'write') this.#fail(errors.sendTimeout);
    else this.#fail(this.mode === Mode.head ? errors.firstByteTimeout : errors.idleTimeout);
  }

  #fail(error: ErrorEntry): void {
    const exchange = this.exchange as Exchange;
    const silent = this.#silent;
    this.destroy();
    exchange.upstream = null;
    try {
      this.listener.upstreamFailed(exchange, error, silent, this.reused);
    } catch (cause) {
      this.listener.unexpected(exchange, cause);
    }
  }
}
