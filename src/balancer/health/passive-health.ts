import type { RuntimeTarget, RuntimeUpstream } from '../../snapshot/runtime.ts';
import type { FromWorker } from '../../workers/messages.ts';
import type { AddressZone } from '../address-zone.ts';
import { type Flip, reportHttpStatus, reportSuccess, reportTcpFailure, reportTimeout } from './report.ts';

/** Counts what passes towards the health of addresses, and tells the control plane what has changed by it. */
export class PassiveHealth {
  readonly #zone: AddressZone;
  readonly #post: (message: FromWorker) => void;

  constructor(zone: AddressZone, post: (message: FromWorker) => void) {
    this.#zone = zone;
    this.#post = post;
  }

  /** An address has begun to answer. */
  answered(upstream: RuntimeUpstream, target: RuntimeTarget, status: number): void {
    const { passive } = upstream;
    if (passive === null) return;
    // Nothing was counted, and nothing is: the way of most answers.
    if (passive.healthyStatuses.has(status) && this.#zone.healthWord(target.slot) === 0) return;
    this.#told(upstream, target, reportHttpStatus(this.#about(upstream, target), passive, status));
  }

  /** A stream has reached its backend. */
  connected(upstream: RuntimeUpstream, target: RuntimeTarget): void {
    const { passive } = upstream;
    if (passive === null || this.#zone.healthWord(target.slot) === 0) return;
    this.#told(upstream, target, reportSuccess(this.#about(upstream, target), passive));
  }

  /** An attempt has failed before any answer. */
  failed(upstream: RuntimeUpstream, target: RuntimeTarget, timedOut: boolean): void {
    const { passive } = upstream;
    if (passive === null) return;
    const report = timedOut ? reportTimeout : reportTcpFailure;
    this.#told(upstream, target, report(this.#about(upstream, target), passive));
  }

  #about(upstream: RuntimeUpstream, target: RuntimeTarget) {
    return { zone: this.#zone, slot: target.slot, upstreamSlot: upstream.slot };
  }

  #told(upstream: RuntimeUpstream, target: RuntimeTarget, flip: Flip | null): void {
    if (flip === null) return;
    const { healthy, reason } = flip;
    this.#post({ type: 'health', upstreamId: upstream.id, slot: target.slot, healthy, reason });
  }
}
