import { isLocalResourceError } from '../../shared/util/process/local-resource-errors.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Counter } from '../../shared/zones/counters.ts';
import type { BalanceQuery, HashSource } from '../balancer/balancer.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import { type Session, Status } from './session.ts';
import type { StreamParts } from './stream-parts.ts';

/** The destination of one attempt. */
export interface BackendAddress {
  readonly ip: string;
  readonly port: number;
  /** Name for SNI and certificate verification, or an IP address. */
  readonly host: string;
}

export interface SearchCalls {
  /** Try this address; then call `reached` or `failed`. May be called again after `failed`. */
  readonly attempt: (address: BackendAddress) => void;
  /** No address is left to try; the status that the stream ends with. */
  readonly exhausted: (status: number) => void;
}

/** Maximum name lookups that one stream waits for. */
const maxNameWaits = 10;

/**
 * Finds addresses of a service, by its upstream's balancer or by its name, until one is reached or `retries` are used
 * up.
 */
export class BackendSearch implements BalanceQuery {
  failedTargets: RuntimeTarget[] | null = null;
  readonly admits = null;
  readonly #parts: StreamParts;
  readonly #service: RuntimeService;
  readonly #session: Session;
  readonly #calls: SearchCalls;
  #target: RuntimeTarget | null = null;
  #startedMono = 0;
  #heldSlot = 0;
  #tries = 0;
  #nameWaits = 0;
  #closed = false;

  constructor(parts: StreamParts, service: RuntimeService, session: Session, calls: SearchCalls) {
    this.#parts = parts;
    this.#service = service;
    this.#session = session;
    this.#calls = calls;
  }

  begin(): void {
    const { upstream } = this.#service;
    const target = upstream === null ? this.#service.target : upstream.balancer.pick(this);
    if (target === null) {
      const pending = upstream?.pending[this.#nameWaits];
      // Resolved or not: the next name may have an address.
      if (pending === undefined) this.#calls.exhausted(Status.unavailable);
      else this.#waitFor(pending, false);
      return;
    }
    const found = target.ip === null ? this.#parts.names.next(target.host) : null;
    if (target.ip !== null) this.#attempt(target, target.ip, target.port);
    else if (found === null) this.#waitFor(target.host, true);
    else this.#attempt(target, found.ip, found.port ?? target.port);
  }

  #waitFor(name: string, needed: boolean): void {
    if (++this.#nameWaits > maxNameWaits) {
      this.#calls.exhausted(Status.unavailable);
      return;
    }
    this.#parts.names.resolve(name, (found) => {
      if (this.#closed) return;
      if (!found && needed) this.#calls.exhausted(Status.unavailable);
      else this.#beginAgain();
    });
  }

  /** For callbacks above which no caller would catch an exception. */
  #beginAgain(): void {
    try {
      this.begin();
    } catch (error) {
      this.#parts.log.error('a stream failed unexpectedly', { error: String(error) });
      this.#calls.exhausted(Status.internal);
    }
  }

  #attempt(target: RuntimeTarget, ip: string, port: number): void {
    this.#target = target;
    this.#tries++;
    this.#startedMono = monotonic();
    this.#noteAttempt(ip, port);
    this.#parts.counters[Counter.upstreamOpened]!++;
    if (target.slot !== 0) {
      this.#parts.zone.begin(target.slot);
      this.#heldSlot = target.slot;
    }
    this.#calls.attempt({ ip, port, host: target.host });
  }

  #noteAttempt(ip: string, port: number): void {
    const session = this.#session;
    if (session.upstreamStartedMono === 0) session.upstreamStartedMono = this.#startedMono;
    session.attempts ??= [];
    session.attempts.push({ startedAt: Date.now(), ip, port, failed: 0 });
  }

  /** The address accepted the connection. */
  reached(): void {
    this.#session.connected = true;
    const { upstream } = this.#service;
    if (this.#target === null) return;
    if (upstream === null) return;
    if (upstream.passive !== null) this.#parts.reports.connected(upstream, this.#target);
    upstream.balancer.answered?.(this.#target, (monotonic() - this.#startedMono) * 1000);
  }

  /** The connection failed or timed out. */
  failed(timedOut: boolean, cause: string): void {
    this.lost(timedOut, cause);
    const target = this.#target;
    if (target === null) return;
    if (this.failedTargets === null) this.failedTargets = [target];
    else this.failedTargets.push(target);
    if (this.#tries > this.#service.retries) {
      this.#calls.exhausted(Status.badGateway);
      return;
    }
    this.#parts.counters[Counter.retries]!++;
    this.begin();
  }

  /** The same, but no other address is tried. */
  lost(timedOut: boolean, cause = ''): void {
    const { counters, reports } = this.#parts;
    const { upstream } = this.#service;
    counters[Counter.upstreamFailed]!++;
    this.#release();
    const attempt = this.#session.attempts?.at(-1);
    if (attempt !== undefined) attempt.failed = timedOut ? 504 : 502;
    if (this.#target === null || upstream === null || upstream.passive === null || isLocalResourceError(cause)) return;
    reports.failed(upstream, this.#target, timedOut);
  }

  hashInput({ kind }: HashSource): string | null {
    return kind === 'ip' ? this.#session.client.ip : null;
  }

  /** The stream is over: releases the address. */
  close(): void {
    this.#closed = true;
    this.#release();
  }

  #release(): void {
    if (this.#heldSlot === 0) return;
    this.#parts.zone.end(this.#heldSlot);
    this.#heldSlot = 0;
  }
}
