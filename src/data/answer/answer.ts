import type { Reply } from '../../plugin-sdk/reply.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { headerMap, headerValue, withoutFields } from '../../shared/http/header-block.ts';
import { asBuffer } from '../../shared/util/bytes/as-buffer.ts';
import { isBodyless } from '../http1/body-reader.ts';
import type { ParsedResponse } from '../http1/parse-response.ts';
import { webSocketAccept } from '../http1/websocket-handshake.ts';
import { WebSocketTunnel } from '../http1/websocket-tunnel.ts';
import {
  bodyReaders,
  runBackendAnswer,
  runBackendFailure,
  runHeaderFilter,
  startBodyFilters,
} from '../plugin-runner/phases.ts';
import type { Exchange, UpstreamLink } from '../request/exchange.ts';
import { grpcCode, grpcLines } from '../request/grpc.ts';
import type { ProxyOptions } from '../request/options.ts';
import { abandonLink } from '../upstream/upstream-link.ts';
import { BufferedResponse } from './buffered-response.ts';
import { answer, answerError, gatewayRefusal, type Refusal, timeoutLine } from './gateway-answer.ts';
import { answerPlugin } from './plugin-reply.ts';
import { gatewayBlock, upstreamLines } from './response-head.ts';

/** The attempt whose answer is being sent (attempt/attempts.ts). */
export interface AnsweringAttempt {
  /** The attempt no longer counts as in flight at its address. */
  release(x: Exchange): void;
  /** The answer cannot be used, and the client has not received any of it. */
  unusable(x: Exchange, error: ErrorEntry): void;
}

/**
 * Every answer to a request begins in a method of this class. There is one object for each worker.
 *
 * | method | the answer |
 * |---|---|
 * | `fromBackend`, `backendBody`, `backendEnd` | the backend's: streamed, or collected for the `response` phase (`BufferedResponse`) |
 * | `fromPlugin` | a plugin's reply: the gateway's own, or treated as if a backend had sent it (`plugin-reply.ts`) |
 * | `failed` | the error of the last attempt, or the reply of a plugin instead |
 * | `error` | an error of `shared/errors.ts`, in a format that the client accepts (`gateway-answer.ts`) |
 * | `grpcStatus` | the status of a gRPC call that does not reach a backend |
 * | `broken` | an answer that has begun and cannot be completed |
 * | `endStream` | the end of an answer that could go on for ever, when the node stops |
 * | `refusal` | to a request that could not be parsed: the connection writes it and closes |
 *
 * A complete body is sent by `sendWhole` (`whole-body.ts`), a head is composed in `response-head.ts`. `x.downstream` writes
 * the answer. For a request with the debug token it is a wrapper (`explain/`) that adds header lines, or that replaces the
 * answer by an explanation (`answerExplanation` in `gateway-answer.ts`).
 */
export class Answers {
  readonly options: ProxyOptions;
  readonly unexpected: (x: Exchange, error: unknown) => void;

  /** `unexpected`: receives exceptions that are thrown after a plugin has waited. */
  constructor(options: ProxyOptions, unexpected: (x: Exchange, error: unknown) => void) {
    this.options = options;
    this.unexpected = unexpected;
  }

  /** `extra`: further header lines. */
  error(x: Exchange, error: ErrorEntry, extra = ''): void {
    answerError(x, error, this.options, extra);
  }

  fromPlugin(x: Exchange, reply: Reply): void {
    answerPlugin(x, reply, this);
  }

  /** No backend has answered: the error, unless a plugin replaces it (`backendFailure`). */
  failed(x: Exchange, error: ErrorEntry): void {
    const reply = x.plan.backendFailure.length === 0 ? null : runBackendFailure(x, error.status);
    if (reply === null) this.error(x, error, timeoutLine(error));
    else this.fromPlugin(x, reply);
  }

  /** Ends a gRPC call with this code of gRPC and message. */
  grpcStatus(x: Exchange, code: number, message: string): void {
    const lines = `Content-Type: application/grpc\r\n${grpcLines(code, message)}`;
    answer(x, 200, gatewayBlock(this.options) + lines, null);
  }

  refusal(error: ErrorEntry, requestId: string): Refusal {
    return gatewayRefusal(error, requestId, this.options);
  }

  /**
   * Breaks off an answer whose head was sent: the client must see that it is not complete. A gRPC client whose own deadline has
   * passed receives a status.
   */
  broken(x: Exchange, error: ErrorEntry): void {
    const deadline = error === errors.totalTimeout && x.grpcTimeout > 0;
    if (deadline && x.head.trailers && x.transform === null) {
      x.downstream.sendEnd(x, grpcLines(grpcCode(error.status), null));
    } else x.downstream.abort(x);
  }

  /**
   * The node stops and waits no longer: ends an answer that could go on for ever, if the client can see that the end is orderly and
   * comes again. A WebSocket gets a close frame, an event stream its end, a gRPC call a status. Any other answer would look complete.
   */
  endStream(x: Exchange, attempt: AnsweringAttempt): void {
    if (x.finished || !x.headSent || x.upstream === null) return;
    let trailers = '';
    if (x.tunnel !== null) {
      const frame = x.tunnel.close();
      if (frame === null) return;
      x.downstream.sendBody(x, frame, 0, frame.byteLength);
    } else if (x.route?.grpc === true && x.transform === null) trailers = grpcLines(grpcCode(503), null);
    else if (!isEventStream(x)) return;
    abandonLink(x);
    attempt.release(x);
    endTap(x, false);
    this.backendEnd(x, trailers);
  }

  // The backend's answer

  /** Begins the answer to the client with the head of the backend's. */
  fromBackend(x: Exchange, head: ParsedResponse, attempt: AnsweringAttempt): void {
    x.status = head.status;
    x.upstreamStatus = head.status;
    x.reason = head.reason;
    x.responseSource = 'upstream';
    let block = head.block + upstreamLines(head, this.options);
    if (head.trailer !== '' && x.head.trailers) block += `Trailer: ${head.trailer}\r\n`;
    x.responseBlock = block;
    if (head.status === 101) {
      this.#switchProtocols(x, block, attempt);
      return;
    }
    // No other attempt follows.
    x.body?.discard();
    x.responseLength = Math.max(head.bodyLength, -1);
    const plan = x.plan;
    const bodyless = isBodyless(x.upstreamMethod ?? x.head.method, head.status);
    if (plan.backendAnswer.length > 0) {
      const reply = runBackendAnswer(x);
      if (reply !== null) {
        this.#replace(x, reply, bodyless || head.bodyLength === 0, attempt);
        return;
      }
    }
    if (plan.responseBodyLimit > 0 && (bodyless || head.bodyLength !== 0)) {
      const readers = bodyReaders(x);
      if (readers.limit > 0) {
        const { options, unexpected } = this;
        const unusable = (error: ErrorEntry): void => attempt.unusable(x, error);
        x.buffered = new BufferedResponse({ options, unexpected, readers, unusable }, bodyless);
        return;
      }
    }
    if (plan.headerFilter.length > 0) runHeaderFilter(x);
    let length = x.responseLength;
    // A plugin has changed the method or the status: the client expects a body that the backend does not send.
    if (bodyless && !isBodyless(x.head.method, x.status)) length = 0;
    if (plan.bodyFilter.length > 0) {
      x.transform = startBodyFilters(x);
      if (x.transform !== null) length = -1;
    }
    x.downstream.sendHead(x, length);
  }

  /** Passes on bytes of the backend's body; they are valid only during the call. */
  backendBody(x: Exchange, bytes: Uint8Array, start: number, end: number, attempt: AnsweringAttempt): void {
    if (x.tap !== null) x.tap.chunk(bytes.subarray(start, end));
    if (x.tunnel !== null) x.tunnel.received(bytes, start, end);
    if (x.buffered !== null) {
      const error = x.buffered.push(x, bytes, start, end);
      if (error !== null) {
        abandonLink(x);
        this.abandonBuffered(x);
        attempt.unusable(x, error);
      }
      return;
    }
    let open: boolean;
    if (x.transform === null) open = x.downstream.sendBody(x, bytes, start, end);
    else {
      const piece = this.#transformed(x, bytes.subarray(start, end));
      if (piece === undefined) return;
      open = piece === null || x.downstream.sendBody(x, asBuffer(piece), 0, piece.byteLength);
    }
    if (!open) x.upstream?.pause();
  }

  /** The backend's answer is complete. */
  backendEnd(x: Exchange, trailers: string): void {
    if (x.tap !== null) endTap(x, true);
    if (x.replacement !== null) {
      const reply = x.replacement;
      x.replacement = null;
      this.fromPlugin(x, reply);
      return;
    }
    if (x.buffered !== null) {
      x.buffered.finish(x, trailers);
      return;
    }
    if (x.transform !== null) {
      const rest = this.#transformed(x, null, trailers);
      if (rest === undefined) return;
      if (rest !== null && rest.byteLength > 0) x.downstream.sendBody(x, asBuffer(rest), 0, rest.byteLength);
    }
    const kept = !x.head.trailers || x.transform?.keepsTrailers === true;
    x.downstream.sendEnd(x, kept ? '' : trailers);
  }

  /** The backend's answer is discarded; the client has received nothing of it. */
  abandonBuffered(x: Exchange): void {
    x.buffered = null;
    x.replacement = null;
    endTap(x, false);
  }

  /** A plugin replaces the backend's answer, whose head has just arrived. */
  #replace(x: Exchange, reply: Reply, complete: boolean, attempt: AnsweringAttempt): void {
    if (complete) {
      // The end of the answer follows at once, and the connection can serve the next request.
      x.replacement = reply;
      return;
    }
    abandonLink(x);
    attempt.release(x);
    this.fromPlugin(x, reply);
  }

  #switchProtocols(x: Exchange, block: string, attempt: AnsweringAttempt): void {
    if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
    const lines = withoutFields(x.responseEdits?.applyTo(block) ?? block, acceptField);
    x.responseEdits = null;
    x.responseBlock = lines;
    if (x.status !== 101) {
      // A plugin changed the status: no raw bytes may follow this answer.
      abandonLink(x);
      attempt.release(x);
      x.downstream.sendHead(x, 0);
      x.downstream.sendEnd(x, '');
      return;
    }
    const accept = webSocketAccept(x.handshakeKey);
    x.responseBlock += `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n`;
    x.downstream.sendHead(x, 0);
    x.tunnel = new WebSocketTunnel(x.upstream as UpstreamLink);
    x.downstream.startTunnel(x, x.tunnel);
  }

  /** Undefined: a filter failed and the transfer is broken. */
  #transformed(x: Exchange, piece: Uint8Array | null, trailers = ''): Uint8Array | null | undefined {
    try {
      return (piece === null ? x.transform?.end(headerMap(trailers)) : x.transform?.chunk(piece)) ?? null;
    } catch {
      abandonLink(x);
      x.downstream.abort(x);
      return undefined;
    }
  }
}

/** Readers of event streams drop an event that is not complete. */
function isEventStream(x: Exchange): boolean {
  const type = headerValue(x.responseBlock, 'content-type') ?? '';
  return x.responseLength < 0 && /^text\/event-stream\b/i.test(type);
}

const acceptField: ReadonlySet<string> = new Set(['sec-websocket-accept']);

/** Ends the plugins' copy of the backend's body, if there is one. */
export function endTap(x: Exchange, complete: boolean): void {
  const { tap } = x;
  x.tap = null;
  if (complete) tap?.end();
  else tap?.aborted();
}
