import {
  type Flip,
  reportHttpStatus,
  reportSuccess,
  reportTcpFailure,
  reportTimeout,
} from '../../shared/health/report.ts';
import type { FromWorker } from '../../shared/messages/messages.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import type { RuntimeUpstream } from '../snapshot/runtime.ts';
import type { RuntimeTarget } from './runtime-target.ts';

/** Counts the outcome of requests towards the health of addresses, and reports changes to the control plane. */
export class PassiveHealth {
  readonly #zone: AddressZone;
  readonly #post: (message: FromWorker) => void;

  constructor(zone: AddressZone, post: (message: FromWorker) => void) {
    this.#zone = zone;
    this.#post = post;
  }

  /** An address has begun its response. */
  answered(upstream: RuntimeUpstream, target: RuntimeTarget, status: number): void {
    const { passive } = upstream;
    if (passive === null) return;
    // Nothing was counted before or is now: the case of most responses.
    if (passive.healthyStatuses.has(status) && this.#zone.healthWord(target.slot) === 0) return;
    this.#notify(upstream, target, reportHttpStatus(this.#about(upstream, target), passive, status));
  }

  /** A stream has reached its backend. */
  connected(upstream: RuntimeUpstream, target: RuntimeTarget): void {
    const { passive } = upstream;
    if (passive === null || this.#zone.healthWord(target.slot) === 0) return;
    this.#notify(upstream, target, reportSuccess(this.#about(upstream, target), passive));
  }

  /** An attempt has failed before any response. */
  failed(upstream: RuntimeUpstream, target: RuntimeTarget, timedOut: boolean): void {
    const { passive } = upstream;
    if (passive === null) return;
    const report = timedOut ? reportTimeout : reportTcpFailure;
    this.#notify(upstream, target, report(this.#about(upstream, target), passive));
  }

  #about(upstream: RuntimeUpstream, target: RuntimeTarget) {
    return { zone: this.#zone, slot: target.slot, upstreamSlot: upstream.slot };
  }

  #notify(upstream: RuntimeUpstream, target: RuntimeTarget, flip: Flip | null): void {
    if (flip === null) return;
    const { healthy, reason } = flip;
    this.#post({ type: 'health', upstreamId: upstream.id, slot: target.slot, healthy, reason });
  }
}
