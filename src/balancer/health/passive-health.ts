import type { RuntimeTarget, RuntimeUpstream } from '../../snapshot/runtime.ts';
import type { FromWorker } from '../../workers/messages.ts';
import type { AddressZone } from '../address-zone.ts';

/** Counts what passes towards the health of addresses, and tells the control plane what has changed by it. */
export class PassiveHealth {
  constructor(_zone: AddressZone, _post: (message: FromWorker) => void) {}

  answered(_upstream: RuntimeUpstream, _target: RuntimeTarget, _status: number): void {}

  failed(_upstream: RuntimeUpstream, _target: RuntimeTarget, _timedOut: boolean): void {}
}
