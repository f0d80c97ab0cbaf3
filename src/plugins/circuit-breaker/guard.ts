import type {
  AddressView,
  Admission,
  AttemptOutcome,
  AttemptWatcher,
  CircuitChange,
  Circuits,
} from '../../plugin-sdk/index.ts';
import type { Fallback } from './fallback.ts';

/** What an instance judges calls by. */
export interface CallRules {
  readonly circuits: Circuits;
  /** Addresses have circuits of their own. */
  readonly perTarget: boolean;
  readonly failureStatuses: ReadonlySet<number>;
  /** Milliseconds. */
  readonly slowCall: number;
  /** A circuit has changed: key, and what a person calls it. */
  changed(key: string, what: string, change: CircuitChange): void;
  rejected(): void;
}

/** Key of an address's circuit. Its place in the node's table is the same in all workers, and outlives edits. */
export function targetKey(address: AddressView): string {
  return address.slot === 0 ? `service ${address.id}` : `target ${address.slot}`;
}

function nameOf(address: AddressView): string {
  return `${address.host}:${address.port}`;
}

/** One request before the circuits of its addresses, and of its service when that has one. */
export class RequestGuard implements AttemptWatcher {
  readonly #rules: CallRules;
  readonly #fallback: Fallback | null;
  /** Places for trials that were taken for addresses, by key: only one of them is going to be used. */
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
    const result = judge(this.#rules, outcome);
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

  /** How the request went in the end; null: no attempt says. */
  get result(): 'success' | 'slow' | 'failure' | null {
    return this.#last === null ? null : judge(this.#rules, this.#last);
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

/** Null: the attempt was given up for a reason that says nothing of the address. */
function judge(rules: CallRules, { result, status, duration }: AttemptOutcome): 'success' | 'slow' | 'failure' | null {
  if (result === 'stopped') return null;
  if (result !== 'answered' || rules.failureStatuses.has(status)) return 'failure';
  return duration >= rules.slowCall ? 'slow' : 'success';
}
