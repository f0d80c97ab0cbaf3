import type { AddressZone } from '../balancer/address-zone.ts';
import { type ErrorEntry, errors } from '../errors.ts';
import { runBackendFailure } from '../plugin-runner/phases.ts';
import type { AttemptOutcome, AttemptResult } from '../plugin-sdk/attempts.ts';
import type { RuntimeService, RuntimeTarget, RuntimeUpstream } from '../snapshot/runtime.ts';
import type { Pools } from '../upstream/pools.ts';
import type { UpstreamLink, UpstreamSource } from '../upstream/upstream-link.ts';
import type { WorkerNames } from '../upstream/worker-names.ts';
import { monotonic } from '../util/clock.ts';
import { isOwnFault } from '../util/own-faults.ts';
import { Counter } from '../zones/counters.ts';
import { connectResult, linkResult, timeoutLine } from './attempt-results.ts';
import { heedGrpcTimeout, tellDeadline, timeoutsOf } from './attempt-timeouts.ts';
import { type BackendName, backendName } from './backend-name.ts';
import { backendTime, type ExchangeBalanceQuery } from './balance-query.ts';
import type { Exchange } from './exchange.ts';
import { failureCause } from './failure-cause.ts';
import type { FailureLog } from './failure-log.ts';
import { grpcCode, grpcLines } from './grpc.ts';
import { isIdempotent } from './is-idempotent.ts';
import type { ProxyOptions } from './options.ts';
import { replyError } from './reply.ts';
import type { RequestBody } from './request-body.ts';
import { requestMessage } from './request-message.ts';
import { answerWith } from './stand-in.ts';
import { UpstreamPolicy } from './upstream-policy.ts';

/** Told how attempts went, for the health of addresses. */
export interface PassiveReports {
  answered(upstream: RuntimeUpstream, target: RuntimeTarget, status: number): void;
  failed(upstream: RuntimeUpstream, target: RuntimeTarget, timedOut: boolean): void;
}

export interface AttemptsParts {
  readonly options: ProxyOptions;
  readonly pools: Pools;
  readonly names: WorkerNames;
  readonly counters: Float64Array;
  readonly zone: AddressZone;
  readonly query: ExchangeBalanceQuery;
  readonly reports: PassiveReports;
  readonly failures: FailureLog;
  readonly unexpected: (x: Exchange | null, error: unknown) => void;
}

/** Names that one request waits for at most. */
const maxNameWaits = 10;
/** Links that one request may find closed by the backend; those after it count as failed attempts. */
const maxStaleLinks = 100;

/**
 * Brings a request to a backend: address, connection, message, and another attempt when one fails. A failed connect is
 * always tried again; a request that was sent is tried again only before any byte of an answer, when its method is idempotent
 * and its body can be sent again. Plugins may decide otherwise (`UpstreamPolicy`).
 */
export class Attempts {
  readonly #parts: AttemptsParts;

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
  }

  /** Begins. The exchange has a service. */
  start(x: Exchange): void {
    if ((x.service as RuntimeService).http2) heedGrpcTimeout(x);
    const total = timeoutsOf(x).total;
    if (total > 0) {
      x.policy ??= new UpstreamPolicy();
      x.policy.limitTotal(total, x.startedMono, () => this.#guarded(x, () => this.#outOfTime(x)));
    }
    this.#attempt(x);
  }

  #attempt(x: Exchange): void {
    const service = x.service as RuntimeService;
    const { policy } = x;
    const upstream = policy?.upstream ?? service.upstream;
    x.balanced = upstream;
    let target: RuntimeTarget | null = service.target;
    if (upstream !== null) target = this.#pick(x, upstream);
    else if (policy !== null && policy.admits !== null && !policy.admits(target)) target = null;
    if (target === null) {
      this.#noAddress(x, upstream);
      return;
    }
    x.target = target;
    const named = service.tls === null ? null : backendName(x, service);
    const known = named !== null || sharesTargets(x, service) ? null : this.#parts.pools.known(target);
    if (known !== null) this.#sendTo(x, service, target, target.ip as string, target.port, known);
    else if (target.ip !== null)
      this.#sendTo(x, service, target, target.ip, target.port, this.#source(x, service, target, named));
    else this.#sendToName(x, service, target, named);
  }

  #pick(x: Exchange, upstream: RuntimeUpstream): RuntimeTarget | null {
    const { trace } = x;
    if (trace === null) return this.#parts.query.pick(x, upstream);
    const span = trace.begin('balancer', upstream.name);
    const target = this.#parts.query.pick(x, upstream);
    trace.end(span, target === null ? { failed: true } : { host: target.host, ip: target.ip ?? '', port: target.port });
    return target;
  }

  /** The source of an address that is fixed. */
  #source(x: Exchange, service: RuntimeService, target: RuntimeTarget, named: BackendName | null): UpstreamSource {
    const { pools } = this.#parts;
    if (named !== null) return this.#namedSource(service, named, target.ip as string, target.port);
    const source = pools.get(target.host, target.ip as string, target.port, service.tls, service.http2);
    if (!sharesTargets(x, service)) pools.remember(target, source);
    return source;
  }

  #namedSource(service: RuntimeService, { name, chosen }: BackendName, ip: string, port: number): UpstreamSource {
    const { pools } = this.#parts;
    return chosen && service.tls !== null
      ? pools.getChosen(name, ip, port, service.tls, service.http2)
      : pools.get(name, ip, port, service.tls, service.http2);
  }

  #sendToName(x: Exchange, service: RuntimeService, target: RuntimeTarget, named: BackendName | null): void {
    const { names, pools } = this.#parts;
    const found = names.next(target.host);
    if (found === null) {
      this.#waitForName(x, target.host, () => this.#failed(x, errors.nameResolution, true, 'connect-failed'));
      return;
    }
    // The port of an SRV record stands above that of the service.
    const port = found.port ?? target.port;
    this.#sendTo(
      x,
      service,
      target,
      found.ip,
      port,
      named === null
        ? pools.get(service.host, found.ip, port, service.tls, service.http2)
        : this.#namedSource(service, named, found.ip, port),
    );
  }

  /** Attempts again once the control plane has an address of the name; `absent` when there is none. */
  #waitForName(x: Exchange, name: string, absent: () => void): void {
    const serial = ++x.attemptSerial;
    x.nameWaits++;
    const span = x.trace === null ? -1 : x.trace.begin('dns', name);
    this.#parts.names.resolve(name, (found, reason) => {
      x.trace?.end(span, found ? { found } : { found, reason });
      if (!this.#current(x, serial)) return;
      // What follows is the order of the calls, which the trace shows.
      if (!found) x.failureCause = `${name}: ${reason.replace(/\. Tried: .*$/s, '')}`;
      this.#guarded(x, () => (found && x.nameWaits <= maxNameWaits ? this.#attempt(x) : absent()));
    });
  }

  #noAddress(x: Exchange, upstream: RuntimeUpstream | null): void {
    const pending = upstream?.pending[x.nameWaits];
    if (pending !== undefined) {
      // Found or not: the next of them may help.
      this.#waitForName(x, pending, () => (x.nameWaits <= maxNameWaits ? this.#attempt(x) : this.#refuse(x)));
      return;
    }
    this.#refuse(x);
  }

  #refuse(x: Exchange): void {
    const { policy } = x;
    const way = policy === null || policy.fellBack ? null : policy.noAddress();
    if (way !== null && policy !== null) {
      if ('reply' in way) {
        answerWith(x, way.reply, this.#parts);
        return;
      }
      const other = x.snapshot.upstream(way.upstream);
      if (other !== null) {
        policy.fellBack = true;
        policy.upstream = other;
        this.#attempt(x);
        return;
      }
    }
    this.giveUp(x, errors.noTarget);
  }

  /** An answer that had begun, and that the client has seen nothing of, cannot be used. */
  spoiled(x: Exchange, error: ErrorEntry): void {
    if (error.source === 'upstream') {
      this.#parts.counters[Counter.upstreamFailed]!++;
      this.#parts.failures.failed(x, error);
    }
    this.release(x);
    this.giveUp(x, error);
  }

  /** No attempt follows: the error is the answer, unless a plugin has another one. */
  giveUp(x: Exchange, error: ErrorEntry): void {
    const reply = x.plan.backendFailure.length === 0 ? null : runBackendFailure(x, error.status);
    if (reply === null) replyError(x, error, this.#parts.options, timeoutLine(error));
    else answerWith(x, reply, this.#parts);
  }

  #sendTo(
    x: Exchange,
    service: RuntimeService,
    target: RuntimeTarget,
    ip: string,
    port: number,
    source: UpstreamSource,
  ): void {
    if (x.trace?.stopsBefore({ host: target.host, ip, port }) === true) return;
    const now = monotonic();
    if (x.upstreamStartedMono === 0) x.upstreamStartedMono = now;
    x.tries++;
    x.attemptStartedMono = now;
    x.targetIp = ip;
    x.targetPort = port;
    x.failureCause = '';
    if (target.slot !== 0) {
      this.#parts.zone.begin(target.slot);
      x.heldSlot = target.slot;
    }
    const { policy } = x;
    if (policy !== null) {
      policy.begun(target);
      const { retries } = policy;
      if (retries !== null) policy.limitTry(retries.tryTimeout, now, () => this.#guarded(x, () => this.#tryOver(x)));
    }
    const pooled = source.take();
    x.trace?.attemptBegins({ try: x.tries, ip, port, host: target.host, pooled: pooled !== null });
    if (pooled !== null) {
      this.#parts.counters[Counter.upstreamReused]!++;
      this.#send(x, service, target, pooled, now);
      return;
    }
    this.#parts.counters[Counter.upstreamOpened]!++;
    this.#connect(x, service, target, source);
  }

  #connect(x: Exchange, service: RuntimeService, target: RuntimeTarget, source: UpstreamSource): void {
    const serial = ++x.attemptSerial;
    x.trace?.connectBegins();
    source.connect(
      timeoutsOf(x).connect,
      (link) => {
        x.trace?.connectEnds();
        if (this.#current(x, serial)) this.#guarded(x, () => this.#send(x, service, target, link, monotonic()));
        else source.giveBack(link);
      },
      (error, cause) => {
        if (!this.#current(x, serial)) return;
        x.failureCause = cause;
        this.#guarded(x, () => this.#failed(x, error, true, connectResult(error)));
      },
    );
  }

  #send(x: Exchange, service: RuntimeService, target: RuntimeTarget, link: UpstreamLink, now: number): void {
    x.upstream = link;
    const timeouts = timeoutsOf(x);
    if (x.policy !== null) tellDeadline(x, timeouts, now);
    const collected = x.requestBody;
    const length = collected === null ? x.head.bodyLength : collected.byteLength;
    const message = requestMessage(x, service, target, length, this.#parts.options);
    link.send(x, message, length, timeouts, now);
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

  /** The head of an answer has come. True: it is not the final one, and another attempt is under way. */
  answered(x: Exchange, status: number): boolean {
    x.trace?.attemptIs({ status });
    const upstream = x.balanced;
    const target = x.target as RuntimeTarget;
    if (upstream !== null) {
      if (upstream.passive !== null) this.#parts.reports.answered(upstream, target, status);
      upstream.balancer.answered?.(target, backendTime(x) * 1000);
    }
    const { policy } = x;
    if (policy === null || !policy.needsOutcome) return false;
    const outcome = this.#outcome(x, 'answered', status, true);
    policy.ended(outcome);
    const pause = policy.retries === null || !outcome.repeatable ? null : policy.retries.next(outcome);
    if (pause === null) return false;
    x.upstream?.destroy();
    x.upstream = null;
    x.failAttempt(status);
    this.release(x);
    this.#again(x, pause);
    return true;
  }

  /**
   * The link failed before the head of an answer was whole. `silent`: no byte of one had come. `reused`: it had served another
   * request before.
   */
  linkFailed(x: Exchange, error: ErrorEntry, silent: boolean, reused: boolean): void {
    if (!silent) {
      // As in nginx, what has begun to answer is not asked again, unless a plugin wants it.
      this.#failed(x, error, false, linkResult(error), true);
      return;
    }
    const unseen = error === errors.upstreamRefused;
    const harmless = unseen || (error === errors.upstreamClosed && isIdempotent(x.upstreamMethod ?? x.head.method));
    const again = reused && harmless && x.staleLinks < maxStaleLinks && (x.body === null || x.body.replayable);
    if (again) this.#anew(x);
    else this.#failed(x, error, unseen, linkResult(error));
  }

  /** The backend had closed the pooled connection before it saw the request: that was no attempt at all. */
  #anew(x: Exchange): void {
    const { policy } = x;
    if (policy?.needsOutcome) policy.ended(this.#outcome(x, 'stopped', 0, false));
    x.tries--;
    x.staleLinks++;
    x.attemptSerial++;
    this.release(x);
    this.#again(x, 0);
  }

  /** An attempt failed. `unsent`: the backend cannot have seen the request. `begun`: it has begun to answer. */
  #failed(x: Exchange, error: ErrorEntry, unsent: boolean, result: AttemptResult, begun = false): void {
    const { counters, reports } = this.#parts;
    const { policy, balanced, target } = x;
    const service = x.service as RuntimeService;
    counters[Counter.upstreamFailed]!++;
    if (x.failureCause === '') {
      const tryTimeout = result === 'try-timeout' ? (policy?.retries?.tryTimeout ?? null) : null;
      x.failureCause = failureCause(error, timeoutsOf(x), tryTimeout);
    }
    this.#parts.failures.failed(x, error);
    x.attemptSerial++;
    x.trace?.attemptIs({
      failed: true,
      status: error.status,
      cause: error.code,
      ...(x.failureCause === '' ? {} : { reason: x.failureCause }),
    });
    x.failAttempt(error.status);
    this.release(x);
    const blames = !isClientsName(x, error) && !isOwnFault(x.failureCause);
    if (balanced !== null && target !== null && balanced.passive !== null && blames) {
      reports.failed(balanced, target, error.status === 504);
    }
    const repeatable = error !== errors.nameResolution && (x.body === null || x.body.replayable);
    let pause: number | null = null;
    if (policy?.needsOutcome) {
      const outcome = this.#outcome(x, result, error.status, !unsent);
      policy.ended(outcome);
      if (repeatable && policy.retries !== null) pause = policy.retries.next(outcome);
    }
    if (policy === null || policy.retries === null) {
      const allowed = !begun && (unsent || isIdempotent(x.upstreamMethod ?? x.head.method));
      if (repeatable && allowed && x.tries <= service.retries) pause = 0;
    }
    if (pause === null) this.giveUp(x, error);
    else this.#again(x, pause);
  }

  #again(x: Exchange, pause: number): void {
    this.#parts.counters[Counter.retries]!++;
    if (x.body !== null) {
      x.body.link = null;
      // Until there is a connection that takes it, more would come than is kept.
      if (x.body.started) x.downstream.pauseBody(x);
    }
    if (pause <= 0 || x.policy === null) {
      this.#attempt(x);
      return;
    }
    const serial = ++x.attemptSerial;
    x.policy.wait(pause, () => {
      if (this.#current(x, serial)) this.#guarded(x, () => this.#attempt(x));
    });
  }

  /** The time of one attempt is over. */
  #tryOver(x: Exchange): void {
    if (x.finished || x.clientAborted || x.policy?.attemptOpen !== true) return;
    // Still connecting: nothing was sent.
    const unsent = x.upstream === null;
    x.upstream?.destroy();
    x.upstream = null;
    this.#failed(x, errors.firstByteTimeout, unsent, 'try-timeout');
  }

  /** The time of the whole request is over. */
  #outOfTime(x: Exchange): void {
    if (x.finished || x.clientAborted) return;
    x.attemptSerial++;
    x.upstream?.destroy();
    x.upstream = null;
    x.buffered = null;
    if (x.policy?.attemptOpen === true) {
      x.failAttempt(errors.totalTimeout.status);
      x.policy.ended(this.#outcome(x, 'total-timeout', errors.totalTimeout.status, true));
    }
    this.release(x);
    if (x.headSent) this.#breakOff(x);
    else this.giveUp(x, errors.totalTimeout);
  }

  /** The answer is not complete. A gRPC client is told why, where an HTTP client has to see a broken transfer. */
  #breakOff(x: Exchange): void {
    if (x.grpcTimeout > 0 && x.head.trailers && x.transform === null) {
      x.downstream.sendEnd(x, grpcLines(grpcCode(errors.totalTimeout.status), null));
    } else x.downstream.abort(x);
  }

  /** The attempt's address serves one request less. */
  release(x: Exchange): void {
    x.trace?.attemptEnds();
    if (x.heldSlot === 0) return;
    this.#parts.zone.end(x.heldSlot);
    x.heldSlot = 0;
  }

  /** Nothing more happens to the exchange. */
  finished(x: Exchange): void {
    this.release(x);
    const { policy } = x;
    if (policy === null) return;
    if (policy.attemptOpen && policy.needsOutcome) policy.ended(this.#outcome(x, 'stopped', 0, true));
    policy.close();
  }

  #outcome(x: Exchange, result: AttemptResult, status: number, sent: boolean): AttemptOutcome {
    return {
      result,
      status,
      attempt: x.tries,
      address: x.target as RuntimeTarget,
      duration: monotonic() - x.attemptStartedMono,
      sent,
      method: x.upstreamMethod ?? x.head.method,
      repeatable: x.body === null || x.body.replayable,
    };
  }

  /** Nothing has happened to the exchange since it had this number. */
  #current(x: Exchange, serial: number): boolean {
    return x.attemptSerial === serial && !x.finished && !x.clientAborted;
  }

  /** For callbacks of the system, above which nobody would catch. */
  #guarded(x: Exchange, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#parts.unexpected(x, error);
    }
  }
}

/**
 * A target of an upstream can serve several services, whose pools are one only where they speak plain HTTP/1.1 to it. Others
 * look their pool up by its key.
 */
function sharesTargets(x: Exchange, service: RuntimeService): boolean {
  return x.balanced !== null && (service.tls !== null || service.http2);
}

/** The TLS handshake failed for a name that the client chose, so it does not count against the backend. */
function isClientsName(x: Exchange, error: ErrorEntry): boolean {
  if (error !== errors.connectFailed || x.failureCause.startsWith('connect ')) return false;
  return x.service !== null && backendName(x, x.service)?.chosen === true;
}
