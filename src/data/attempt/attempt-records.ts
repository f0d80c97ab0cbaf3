import type { AttemptResult, UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { isLocalResourceError } from '../../shared/util/process/local-resource-errors.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import { Counter } from '../../shared/zones/counters.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RuntimeUpstream } from '../snapshot/runtime.ts';
import { backendName } from './backend-name.ts';
import { failureCause } from './failure-cause.ts';
import type { FailureLog } from './failure-log.ts';

/** Receives the results of attempts, for passive health checks and circuit breakers. */
export interface PassiveReports {
  answered(upstream: RuntimeUpstream, target: RuntimeTarget, status: number): void;
  failed(upstream: RuntimeUpstream, target: RuntimeTarget, timedOut: boolean): void;
}

export interface AttemptRecordsParts {
  readonly counters: Float64Array;
  readonly zone: AddressZone;
  readonly reports: PassiveReports;
  readonly failures: FailureLog;
}

/** What attempts leave in the exchange, the counters, the trace, the error log and the health of addresses. */
export class AttemptRecords {
  readonly #counters: Float64Array;
  readonly #zone: AddressZone;
  readonly #reports: PassiveReports;
  readonly #failures: FailureLog;

  constructor({ counters, zone, reports, failures }: AttemptRecordsParts) {
    this.#counters = counters;
    this.#zone = zone;
    this.#reports = reports;
    this.#failures = failures;
  }

  begun(x: Exchange, target: RuntimeTarget, ip: string, port: number, now: number): void {
    if (x.upstreamStartedMono === 0) x.upstreamStartedMono = now;
    x.tries++;
    x.attemptStartedMono = now;
    x.targetIp = ip;
    x.targetPort = port;
    x.failureCause = '';
    if (target.slot === 0) return;
    this.#zone.begin(target.slot);
    x.heldSlot = target.slot;
  }

  /** `pooled`: the attempt uses an idle link. */
  linked(x: Exchange, { host }: RuntimeTarget, pooled: boolean): void {
    x.trace?.attemptBegins({ try: x.tries, ip: x.targetIp, port: x.targetPort, host, pooled });
    this.#counters[pooled ? Counter.upstreamReused : Counter.upstreamOpened]!++;
  }

  answered(x: Exchange, status: number): void {
    x.trace?.attemptIs({ status });
    const { balanced, target } = x;
    if (balanced === null || target === null) return;
    if (balanced.passive !== null) this.#reports.answered(balanced, target, status);
    balanced.balancer.answered?.(target, backendTime(x) * 1000);
  }

  failed(x: Exchange, error: ErrorEntry, result: AttemptResult, timeouts: UpstreamTimeouts): void {
    this.#counters[Counter.upstreamFailed]!++;
    if (x.failureCause === '') {
      const tryTimeout = result === 'try-timeout' ? (x.policy?.retries?.tryTimeout ?? null) : null;
      x.failureCause = failureCause(error, timeouts, tryTimeout);
    }
    this.#failures.failed(x, error);
    x.trace?.attemptIs({
      failed: true,
      status: error.status,
      cause: error.code,
      ...(x.failureCause === '' ? {} : { reason: x.failureCause }),
    });
    x.failAttempt(error.status);
    this.released(x);
    const { balanced, target } = x;
    if (balanced !== null && target !== null && balanced.passive !== null && blamesBackend(x, error)) {
      this.#reports.failed(balanced, target, error.status === 504);
    }
  }

  /** An answer has begun and cannot be used. */
  unusable(x: Exchange, error: ErrorEntry): void {
    if (error.source === 'upstream') {
      this.#counters[Counter.upstreamFailed]!++;
      this.#failures.failed(x, error);
    }
    this.released(x);
  }

  retried(): void {
    this.#counters[Counter.retries]!++;
  }

  /** The attempt no longer counts as in flight at its address. */
  released(x: Exchange): void {
    x.trace?.attemptEnds();
    if (x.heldSlot === 0) return;
    this.#zone.end(x.heldSlot);
    x.heldSlot = 0;
  }
}

/**
 * Milliseconds from when the backend had the whole request until it began its answer: a slow client does not count
 * against it. Below 0: the backend answered earlier.
 */
function backendTime({ body, firstByteMono, attemptStartedMono }: Exchange): number {
  if (body === null) return firstByteMono - attemptStartedMono;
  return body.completeMono === 0 ? -1 : firstByteMono - Math.max(attemptStartedMono, body.completeMono);
}

/**
 * The failure counts against the backend. A fault of the gateway itself (no descriptors left, say) does not, nor does a failed
 * TLS handshake for a name that the client chose.
 */
function blamesBackend(x: Exchange, error: ErrorEntry): boolean {
  return !isNameOfClient(x, error) && !isLocalResourceError(x.failureCause);
}

function isNameOfClient(x: Exchange, error: ErrorEntry): boolean {
  if (error !== errors.connectFailed || x.failureCause.startsWith('connect ')) return false;
  return x.service !== null && backendName(x, x.service)?.chosen === true;
}
