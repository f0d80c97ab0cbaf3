import type {
  AddressView,
  Admission,
  AttemptOutcome,
  AttemptWatcher,
  CircuitChange,
  Circuits,
} from '../../plugin-sdk/index.ts';
import type { Fallback } from './fallback.ts';

/** The thresholds of an instance. */
export interface CallRules {
  readonly circuits: Circuits;
  /** Each address has its own circuit. */
  readonly perTarget: boolean;
  readonly failureStatuses: ReadonlySet<number>;
  /** Milliseconds. */
  readonly slowCall: number;
  /** Called when a circuit has changed, with its key and its name for people. */
  changed(key: string, what: string, change: CircuitChange): void;
  rejected(): void;
}

/** Key of an address's circuit. Its slot in the node's table is the same in all workers, and survives edits. */
export function targetKey(address: AddressView): string {
  return address.slot === 0 ? `service ${address.id}` : `target ${address.slot}`;
}

function nameOf(address: AddressView): string {
  return `${address.host}:${address.port}`;
}

/** One request, with the circuits of its addresses and, if enabled, of its service. */
export class RequestGuard implements AttemptWatcher {
  readonly #rules: CallRules;
  readonly #fallback: Fallback | null;
  /** Trial slots that were taken for addresses, by key: only one of them will be used. */
  #reserved: Set<string> | null = null;
  #attemptIsTrial = false;
  #last: AttemptOutcome | null = null;
  /** A trial of the service's circuit. */
  readonly serviceTrial: boolean;

  constructor(rules: CallRules, fallback: Fallback | null, serviceTrial: boolean) {
    this.#rules = rules;
    this.#fallback = fallback;
    this.serviceTrial = serviceTrial;
  }

  admits(address: AddressView): boolean {
    if (!this.#rules.perTarget) return true;
    const key = targetKey(address);
    if (this.#reserved?.has(key)) return true;
    const { admitted, trial, change }: Admission = this.#rules.circuits.admit(key);
    if (change !== null) this.#rules.changed(key, nameOf(address), change);
    if (trial) {
      this.#reserved ??= new Set();
      this.#reserved.add(key);
    }
    return admitted;
  }

  begun(address: AddressView): void {
    this.#attemptIsTrial = this.#reserved?.delete(targetKey(address)) ?? false;
    this.#releaseReserved();
  }

  ended(outcome: AttemptOutcome): void {
    if (outcome.result !== 'stopped') this.#last = outcome;
    if (!this.#rules.perTarget) return;
    const key = targetKey(outcome.address);
    const result = evaluate(this.#rules, outcome);
    if (result === null) {
      if (this.#attemptIsTrial) this.#rules.circuits.release(key);
      return;
    }
    const change = this.#rules.circuits.report(key, result, this.#attemptIsTrial);
    if (change !== null) this.#rules.changed(key, nameOf(outcome.address), change);
  }

  noAddress(): ReturnType<NonNullable<AttemptWatcher['noAddress']>> {
    this.#releaseReserved();
    if (!this.#rules.perTarget) return null;
    this.#rules.rejected();
    return this.#fallback?.() ?? null;
  }

  /** The final outcome of the request; null: no attempt counts. */
  get result(): 'success' | 'slow' | 'failure' | null {
    return this.#last === null ? null : evaluate(this.#rules, this.#last);
  }

  close(): void {
    this.#releaseReserved();
  }

  #releaseReserved(): void {
    if (this.#reserved === null) return;
    for (const key of this.#reserved) this.#rules.circuits.release(key);
    this.#reserved = null;
  }
}

/** Null: the attempt was cancelled for a reason unrelated to the address. */
function evaluate(
  rules: CallRules,
  { result, status, duration }: AttemptOutcome,
): 'success' | 'slow' | 'failure' | null {
  if (result === 'stopped') return null;
  if (result !== 'answered' || rules.failureStatuses.has(status)) return 'failure';
  return duration >= rules.slowCall ? 'slow' : 'success';
}
