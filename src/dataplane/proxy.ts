import { type ErrorEntry, errors } from '../errors.ts';
import { isBodyless } from '../http1/bodyless.ts';
import { headerMap, withoutFields } from '../http1/header-block.ts';
import type { ParsedResponse } from '../http1/parse-response.ts';
import type { ResponseListener } from '../http1/upstream-connection.ts';
import { webSocketAccept } from '../http1/websocket-handshake.ts';
import { bodyReaders, runBackendAnswer, runHeaderFilter, startBodyFilters } from '../plugin-runner/phases.ts';
import type { Reply } from '../plugin-sdk/reply.ts';
import type { PoolOptions } from '../upstream/pool.ts';
import { Pools } from '../upstream/pools.ts';
import type { UpstreamLink } from '../upstream/upstream-link.ts';
import { monotonic } from '../util/clock.ts';
import { Attempts, type AttemptsParts } from './attempts.ts';
import { ExchangeBalanceQuery } from './balance-query.ts';
import { BufferedResponse } from './buffered-response.ts';
import type { Cancellable, Exchange } from './exchange.ts';
import type { ProxyOptions } from './options.ts';
import { replyError } from './reply.ts';
import { RequestBody } from './request-body.ts';
import { upstreamLines } from './response-head.ts';
import { answerWith, type StandInParts } from './stand-in.ts';

export interface RequestProxyParts extends Omit<AttemptsParts, 'pools' | 'query'> {
  readonly pool: PoolOptions;
}

const acceptField: ReadonlySet<string> = new Set(['sec-websocket-accept']);

/**
 * Carries a request to a backend (`Attempts`) and its answer back. One object for each worker: what belongs to a request is
 * in the exchange.
 */
export class RequestProxy implements ResponseListener {
  readonly #options: ProxyOptions;
  readonly #pools: Pools;
  readonly #attempts: Attempts;
  readonly #standIn: StandInParts;
  readonly unexpected: (x: Exchange | null, error: unknown) => void;

  constructor({ pool, ...parts }: RequestProxyParts) {
    this.unexpected = parts.unexpected;
    this.#options = parts.options;
    this.#standIn = { options: parts.options, unexpected: parts.unexpected };
    this.#pools = new Pools(pool, this);
    this.#attempts = new Attempts({ ...parts, pools: this.#pools, query: new ExchangeBalanceQuery() });
  }

  get idleConnections(): number {
    return this.#pools.idle;
  }

  /** Sends the request on. The exchange has a service. */
  start(x: Exchange): void {
    if (x.bodyTaken && x.requestBody === null) {
      // A plugin has taken the body, or what it would take of it: what is left would reach the backend as the whole.
      replyError(x, errors.payloadTooLarge, this.#options);
      return;
    }
    if (x.requestBody === null && x.head.bodyLength !== 0) x.body = new RequestBody(x);
    this.#attempts.start(x);
  }

  // ResponseListener

  informational(x: Exchange, head: ParsedResponse): void {
    // The gateway answers `Expect` itself, so the backend's 100 is nobody's.
    if (head.status !== 100) x.downstream.sendInformational(x, head.status, head.block);
  }

  responseHead(x: Exchange, head: ParsedResponse): void {
    x.firstByteMono = monotonic();
    if (this.#attempts.answered(x, head.status)) return;
    x.status = head.status;
    x.upstreamStatus = head.status;
    x.reason = head.reason;
    x.responseSource = 'upstream';
    let block = head.block + upstreamLines(head, this.#options);
    if (head.trailer !== '' && x.head.trailers) block += `Trailer: ${head.trailer}\r\n`;
    if (head.status === 101) {
      this.#switchProtocols(x, block);
      return;
    }
    x.responseBlock = block;
    // There is no other attempt after this one.
    x.body?.forget();
    x.responseLength = Math.max(head.bodyLength, -1);
    const plan = x.plan;
    const bodyless = isBodyless(x.upstreamMethod ?? x.head.method, head.status);
    if (plan.backendAnswer.length > 0) {
      const reply = runBackendAnswer(x);
      if (reply !== null) {
        this.#replace(x, reply, bodyless || head.bodyLength === 0);
        return;
      }
    }
    if (plan.responseBodyLimit > 0 && (bodyless || head.bodyLength !== 0)) {
      const readers = bodyReaders(x);
      if (readers.limit > 0) {
        const parts = { ...this.#standIn, readers, spoiled: (error: ErrorEntry) => this.#attempts.spoiled(x, error) };
        x.buffered = new BufferedResponse(parts, bodyless);
        return;
      }
    }
    if (plan.headerFilter.length > 0) runHeaderFilter(x);
    let length = x.responseLength;
    // A plugin has changed the method or the status: the client expects a body where there is none.
    if (bodyless && !isBodyless(x.head.method, x.status)) length = 0;
    if (plan.bodyFilter.length > 0) {
      x.transform = startBodyFilters(x);
      if (x.transform !== null) length = -1;
    }
    x.downstream.sendHead(x, length);
  }

  /** A plugin answers in the place of the backend that has just begun to. */
  #replace(x: Exchange, reply: Reply, complete: boolean): void {
    if (complete) {
      // The end of the answer follows at once, and the connection can serve the next request.
      x.replacement = reply;
      return;
    }
    x.upstream?.destroy();
    x.upstream = null;
    this.#attempts.release(x);
    answerWith(x, reply, this.#standIn);
  }

  #switchProtocols(x: Exchange, block: string): void {
    x.responseBlock = block;
    if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
    const lines = withoutFields(x.responseEdits?.applyTo(block) ?? block, acceptField);
    x.responseEdits = null;
    x.responseBlock = lines;
    if (x.status !== 101) {
      // A plugin changed the status: no raw bytes may follow this answer.
      x.upstream?.destroy();
      x.upstream = null;
      this.#attempts.release(x);
      x.downstream.sendHead(x, 0);
      x.downstream.sendEnd(x, '');
      return;
    }
    const accept = webSocketAccept(x.handshakeKey);
    x.responseBlock += `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n`;
    x.downstream.sendHead(x, 0);
    x.downstream.startTunnel(x, x.upstream as UpstreamLink);
  }

  responseBody(x: Exchange, bytes: Uint8Array, start: number, end: number): void {
    if (x.tap !== null) x.tap.chunk(bytes.subarray(start, end));
    if (x.buffered !== null) {
      const unusable = x.buffered.push(x, bytes, start, end);
      if (unusable !== null) {
        x.upstream?.destroy();
        x.upstream = null;
        x.buffered = null;
        this.#endTap(x, false);
        this.#attempts.spoiled(x, unusable);
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

  /** Undefined: a filter failed and the transfer is broken. */
  #transformed(x: Exchange, piece: Uint8Array | null, trailers = ''): Uint8Array | null | undefined {
    try {
      return (piece === null ? x.transform?.end(headerMap(trailers)) : x.transform?.chunk(piece)) ?? null;
    } catch {
      x.upstream?.destroy();
      x.upstream = null;
      x.downstream.abort(x);
      return undefined;
    }
  }

  responseEnd(x: Exchange, trailers: string): void {
    this.#attempts.release(x);
    if (x.tap !== null) this.#endTap(x, true);
    if (x.replacement !== null) {
      const reply = x.replacement;
      x.replacement = null;
      answerWith(x, reply, this.#standIn);
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

  responseIdle(x: Exchange): void {
    x.downstream.flush(x);
  }

  upstreamDrained(x: Exchange): void {
    x.downstream.resumeBody(x);
  }

  upstreamFailed(x: Exchange, error: ErrorEntry, silent: boolean, reused: boolean): void {
    if (x.headSent) {
      x.downstream.abort(x);
      return;
    }
    if (x.buffered !== null || x.replacement !== null) {
      x.buffered = null;
      x.replacement = null;
      this.#endTap(x, false);
      this.#attempts.spoiled(x, error);
      return;
    }
    this.#attempts.linkFailed(x, error, silent, reused);
  }

  // Client side

  downstreamDrained(x: Exchange): void {
    if (x.wholeBody === null) x.upstream?.resume();
    else x.wholeBody.resume();
  }

  downstreamAborted(x: Exchange): void {
    x.upstream?.destroy();
    x.upstream = null;
    if (x.calls !== null) cancelCalls(x.calls);
  }

  finished(x: Exchange): void {
    this.#attempts.finished(x);
    if (x.tap !== null) this.#endTap(x, false);
    x.body?.forget();
    if (x.calls !== null) cancelCalls(x.calls);
  }

  #endTap(x: Exchange, complete: boolean): void {
    const { tap } = x;
    x.tap = null;
    if (complete) tap?.end();
    else tap?.aborted();
  }

  close(): void {
    this.#pools.close();
  }
}

function cancelCalls(calls: Set<Cancellable>): void {
  const all = [...calls];
  calls.clear();
  for (const call of all) call.cancel();
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
