import { pickRoundRobin } from '../balancer/round-robin.ts';
import { type ErrorEntry, errors } from '../errors.ts';
import { isBodyless } from '../http1/bodyless.ts';
import type { ParsedResponse } from '../http1/parse-response.ts';
import type { ResponseListener } from '../http1/upstream-connection.ts';
import { runHeaderFilter, startBodyFilters } from '../plugin-runner/phases.ts';
import type { RuntimeService, RuntimeTarget } from '../snapshot/runtime.ts';
import type { PoolOptions } from '../upstream/pool.ts';
import { Pools } from '../upstream/pools.ts';
import type { Resolver } from '../upstream/resolver.ts';
import type { UpstreamLink, UpstreamSource } from '../upstream/upstream-link.ts';
import { monotonic } from '../util/clock.ts';
import { Counter } from '../zones/counters.ts';
import { BufferedResponse } from './buffered-response.ts';
import type { Exchange } from './exchange.ts';
import type { ProxyOptions } from './options.ts';
import { replyError } from './reply.ts';
import { RequestBody } from './request-body.ts';
import { requestMessage } from './request-message.ts';
import { upstreamLines } from './response-head.ts';

/**
 * Carries a request to a backend and its answer back. One object for each worker: what belongs to a request is in the
 * exchange. Attempts: a failed connect is always tried again; a request that was sent is tried again
 * only before any byte of an answer, when its method is idempotent and its body can be sent again.
 */
export class RequestProxy implements ResponseListener {
  readonly #options: ProxyOptions;
  readonly #pools: Pools;
  readonly #resolver: Resolver;
  readonly #counters: Float64Array;
  readonly unexpected: (x: Exchange | null, error: unknown) => void;

  constructor(
    options: ProxyOptions,
    pool: PoolOptions,
    resolver: Resolver,
    counters: Float64Array,
    unexpected: (x: Exchange | null, error: unknown) => void,
  ) {
    this.unexpected = unexpected;
    this.#options = options;
    this.#pools = new Pools(pool, this);
    this.#resolver = resolver;
    this.#counters = counters;
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
    if (x.requestBody === null && x.head.bodyLength !== 0) x.body = new RequestBody();
    this.#attempt(x, x.service as RuntimeService);
  }

  #attempt(x: Exchange, service: RuntimeService): void {
    const upstream = service.upstream;
    let target = service.target;
    if (upstream !== null) {
      const picked = pickRoundRobin(upstream, x.failedTargets);
      if (picked === null) {
        replyError(x, errors.noTarget, this.#options);
        return;
      }
      target = picked;
    }
    x.target = target;
    const known = this.#pools.known(target);
    if (known !== null) {
      this.#sendTo(x, service, target, target.host, known);
      return;
    }
    const ip = this.#resolver.next(target.host);
    if (ip === null) this.#resolveFirst(x, service, target);
    else this.#sendTo(x, service, target, ip, this.#poolOf(service, target, ip));
  }

  #resolveFirst(x: Exchange, service: RuntimeService, target: RuntimeTarget): void {
    this.#resolver.resolve(target.host, (found) => {
      if (x.finished || x.clientAborted) return;
      this.#guarded(x, () => {
        const ip = found ? this.#resolver.next(target.host) : null;
        if (ip !== null) this.#sendTo(x, service, target, ip, this.#poolOf(service, target, ip));
        else this.#failed(x, errors.nameResolution, true);
      });
    });
  }

  /** For callbacks of the system, above which nobody would catch. */
  #guarded(x: Exchange, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.unexpected(x, error);
    }
  }

  #poolOf(service: RuntimeService, target: RuntimeTarget, ip: string): UpstreamSource {
    const pool = this.#pools.get(service.upstream === null ? service.host : target.host, ip, target.port, service.tls);
    // A target of an upstream can serve several services; only without TLS is the pool the same for all of them.
    if (service.tls === null || service.upstream === null) this.#pools.remember(target, pool);
    return pool;
  }

  #sendTo(x: Exchange, service: RuntimeService, target: RuntimeTarget, ip: string, source: UpstreamSource): void {
    const now = monotonic();
    if (x.upstreamStartedMono === 0) x.upstreamStartedMono = now;
    x.tries++;
    x.attemptStartedAt = x.startedAt + (now - x.startedMono);
    x.targetIp = ip;
    const pooled = source.take();
    if (pooled !== null) {
      this.#counters[Counter.upstreamReused]!++;
      this.#send(x, service, target, pooled, now);
      return;
    }
    this.#counters[Counter.upstreamOpened]!++;
    source.connect(
      service.timeouts.connect,
      (link) => {
        if (x.finished || x.clientAborted) source.giveBack(link);
        else this.#guarded(x, () => this.#send(x, service, target, link, monotonic()));
      },
      (error) => {
        if (!x.finished && !x.clientAborted) this.#guarded(x, () => this.#failed(x, error, true));
      },
    );
  }

  #send(x: Exchange, service: RuntimeService, target: RuntimeTarget, link: UpstreamLink, now: number): void {
    x.upstream = link;
    const collected = x.requestBody;
    const length = collected === null ? x.head.bodyLength : collected.byteLength;
    const message = requestMessage(x, service, target, length, this.#options);
    link.send(x, message, length, service.timeouts, now);
    if (collected !== null) {
      if (length > 0) link.bodyData(Buffer.from(collected.buffer, collected.byteOffset, length), 0, length);
      link.bodyEnd('');
    } else if (x.body !== null) this.#sendBody(x, x.body, link);
  }

  #sendBody(x: Exchange, body: RequestBody, link: UpstreamLink): void {
    body.attach(link);
    if (body.started) {
      x.downstream.resumeBody(x);
      return;
    }
    body.started = true;
    x.downstream.startBody(x, body);
  }

  /** An attempt failed before any byte of an answer was passed on. `unsent`: the backend cannot have seen the request. */
  #failed(x: Exchange, error: ErrorEntry, unsent: boolean): void {
    const service = x.service as RuntimeService;
    this.#counters[Counter.upstreamFailed]!++;
    x.failAttempt(error.status);
    const repeatable =
      unsent || (isIdempotent(x.upstreamMethod ?? x.head.method) && (x.body === null || x.body.replayable));
    if (repeatable && error !== errors.nameResolution && x.tries <= service.retries) {
      this.#counters[Counter.retries]!++;
      if (x.body !== null) {
        x.body.link = null;
        // Until there is a connection that takes it, more would come than is kept.
        if (x.body.started) x.downstream.pauseBody(x);
      }
      this.#attempt(x, service);
      return;
    }
    replyError(x, error, this.#options);
  }

  // ResponseListener

  informational(x: Exchange, head: ParsedResponse): void {
    // The gateway answers `Expect` itself, so the backend's 100 is nobody's.
    if (head.status !== 100) x.downstream.sendInformational(x, head.status, head.block);
  }

  responseHead(x: Exchange, head: ParsedResponse): void {
    x.firstByteMono = monotonic();
    x.status = head.status;
    x.upstreamStatus = head.status;
    x.reason = head.reason;
    x.responseSource = 'upstream';
    let block = head.block + upstreamLines(head.via, head.server, this.#options);
    if (head.trailer !== '' && x.head.trailers) block += `Trailer: ${head.trailer}\r\n`;
    if (head.status === 101) {
      this.#switchProtocols(x, head, block);
      return;
    }
    x.responseBlock = block;
    // There is no other attempt after this one.
    x.body?.forget();
    const plan = x.plan;
    const bodyless = isBodyless(x.upstreamMethod ?? x.head.method, head.status);
    if (plan.responseBodyLimit > 0 && (bodyless || head.bodyLength !== 0)) {
      x.buffered = new BufferedResponse(plan.responseBodyLimit, bodyless ? Math.max(head.bodyLength, -1) : null);
      return;
    }
    if (plan.headerFilter.length > 0) runHeaderFilter(x);
    let length = Math.max(head.bodyLength, -1);
    // A plugin has changed the method or the status: the client expects a body where there is none.
    if (bodyless && !isBodyless(x.head.method, x.status)) length = 0;
    if (plan.bodyFilter.length > 0) {
      x.transform = startBodyFilters(x);
      if (x.transform !== null) length = -1;
    }
    x.downstream.sendHead(x, length);
  }

  #switchProtocols(x: Exchange, head: ParsedResponse, block: string): void {
    x.responseBlock = `${block}Connection: Upgrade\r\nUpgrade: ${head.upgrade}\r\n`;
    if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
    x.downstream.sendHead(x, 0);
    x.downstream.startTunnel(x, x.upstream as UpstreamLink);
  }

  responseBody(x: Exchange, bytes: Uint8Array, start: number, end: number): void {
    if (x.buffered !== null) {
      if (!x.buffered.push(bytes, start, end)) {
        x.upstream?.destroy();
        x.upstream = null;
        x.buffered = null;
        replyError(x, errors.responseTooLarge, this.#options);
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
  #transformed(x: Exchange, piece: Uint8Array | null): Uint8Array | null | undefined {
    try {
      return piece === null ? (x.transform?.end() ?? null) : (x.transform?.chunk(piece) ?? null);
    } catch {
      x.upstream?.destroy();
      x.upstream = null;
      x.downstream.abort(x);
      return undefined;
    }
  }

  responseEnd(x: Exchange, trailers: string): void {
    if (x.buffered !== null) {
      x.buffered.finish(x, this.#options, this.unexpected);
      return;
    }
    if (x.transform !== null) {
      const rest = this.#transformed(x, null);
      if (rest === undefined) return;
      if (rest !== null && rest.byteLength > 0) x.downstream.sendBody(x, asBuffer(rest), 0, rest.byteLength);
    }
    x.downstream.sendEnd(x, x.head.trailers ? trailers : '');
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
    if (x.buffered !== null) {
      x.buffered = null;
      replyError(x, error, this.#options);
      return;
    }
    // The pooled connection had been closed by the backend before it saw the request: that is not an attempt of its own.
    if (silent && reused && error === errors.upstreamClosed && isIdempotent(x.upstreamMethod ?? x.head.method))
      x.tries--;
    if (silent) this.#failed(x, error, false);
    else replyError(x, error, this.#options);
  }

  // Client side

  downstreamDrained(x: Exchange): void {
    x.upstream?.resume();
  }

  downstreamAborted(x: Exchange): void {
    x.upstream?.destroy();
    x.upstream = null;
  }

  close(): void {
    this.#pools.close();
  }
}

/** nginx's rule, which Kong's users know: everything but POST, LOCK and PATCH may be sent again. */
function isIdempotent(method: string): boolean {
  return method !== 'POST' && method !== 'LOCK' && method !== 'PATCH';
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
