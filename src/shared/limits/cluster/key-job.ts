import type { LimiterUnavailable } from '../../../plugin-sdk/limits.ts';
import type { Lease, LeaseRequest, LeaseWindow } from '../lease.ts';
import { answerTimeout, type LeaseJob } from './counter-link.ts';
import type { HeldWindow, SeenWindow, Surplus, Waiting } from './lease-steps.ts';
import type { LeaseTable } from './lease-table.ts';

/** Fraction of what is left that a lease may take while the number of nodes is unknown. */
const cautiousShare = 0.1;

/** Someone who waits for the store. */
export interface Waiter {
  readonly cost: number;
  /** `served`: the cost was taken. */
  readonly resolve: (served: boolean, windows: readonly SeenWindow[], now: number) => void;
  readonly reject: (error: LimiterUnavailable) => void;
}

/** What the jobs of a limiter share. */
export interface JobHost {
  readonly table: LeaseTable;
  /** True: nothing is leased ahead. */
  readonly exact: () => boolean;
  readonly windowOf: (at: number, key: string, window: HeldWindow) => LeaseWindow;
  /** The job was sent, or has failed: what arrives from now on forms the next one. */
  readonly sent: (job: KeyJob) => void;
  /** A lease has arrived. `holds`: the node has units of the key now. */
  readonly settle: (key: string, surplus: readonly Surplus[], holds: boolean) => void;
  /** Who got nothing although the store granted enough: another worker was faster, or the units had been given back. */
  readonly again: (key: string, waiters: readonly Waiter[]) => void;
}

/** Everything that is requested for one key at once: units for requests that wait, for what has happened, and ahead. */
export class KeyJob implements LeaseJob {
  readonly key: string;
  readonly takers: Waiter[] = [];
  readonly lookers: Waiter[] = [];
  readonly adders: { readonly missing: readonly number[]; readonly waiter: Waiter }[] = [];
  /** What the node holds is ignored: others were faster to take it. */
  ignoresHeld = false;
  readonly #host: JobHost;
  #planned: readonly HeldWindow[] = [];
  #wanted = 0;
  /** Index of the request of `takers`; the one before it is that of `adders`. */
  #last = 0;

  constructor(key: string, host: JobHost) {
    this.key = key;
    this.#host = host;
  }

  requests(): readonly LeaseRequest[] {
    const { table, exact, windowOf, sent } = this.#host;
    sent(this);
    const costs = this.takers.map(({ cost }) => cost);
    this.#wanted = costs.reduce((sum, cost) => sum + cost, 0);
    this.#planned = table.plan(this.key, this.#wanted, exact() ? null : answerTimeout);
    const known = table.nodes.count;
    const first = costs[0] ?? 1;
    const request: LeaseRequest = {
      windows: this.#planned.map((window, at) => ({
        ...windowOf(at, this.key, window),
        held: this.ignoresHeld ? 0 : window.held,
        ahead: window.ahead,
      })),
      wanted: this.#wanted,
      unit: costs.every((cost) => cost === first) ? Math.max(1, first) : 1,
      force: false,
      share: known === 0 ? cautiousShare : 1 / (2 * known),
    };
    const forced = this.#forced();
    this.#last = forced === null ? 0 : 1;
    return forced === null ? [request] : [forced, request];
  }

  answered(leases: readonly Lease[]): void {
    const lease = leases[this.#last];
    if (lease === undefined) return;
    if (lease.nodes !== undefined) this.#host.table.nodes.note(lease.nodes);
    this.#credit(lease);
  }

  failed(error: LimiterUnavailable): void {
    this.#host.sent(this);
    if (this.#planned.some(({ ahead }) => ahead > 0)) this.#host.table.failed(this.key);
    for (const { waiter } of this.adders) waiter.reject(error);
    for (const waiter of [...this.takers, ...this.lookers]) waiter.reject(error);
  }

  late(leases: readonly Lease[]): void {
    const lease = leases[this.#last];
    if (lease === undefined) return;
    const { surplus, holds } = this.#host.table.credit(this.key, this.#planned, takenOf(lease), lease, []);
    this.#host.settle(this.key, surplus, holds);
  }

  /** What has happened, less what was taken from the node's leases. */
  #forced(): LeaseRequest | null {
    if (this.adders.length === 0) return null;
    const missing = this.#planned.map((_, at) => this.adders.reduce((sum, adder) => sum + (adder.missing[at] ?? 0), 0));
    const wanted = Math.max(...missing);
    const windows = this.#planned.map((window, at) => ({
      ...this.#host.windowOf(at, this.key, window),
      held: wanted - (missing[at] ?? 0),
    }));
    return { windows, wanted, unit: 1, force: true };
  }

  #credit(lease: Lease): void {
    const { table, again } = this.#host;
    const waiting = this.takers.map((waiter): Waiting & { readonly waiter: Waiter } => ({
      waiter,
      cost: waiter.cost,
      serve: (windows, now) => waiter.resolve(true, windows, now),
    }));
    const { unserved, surplus, windows, now, holds } = table.credit(
      this.key,
      this.#planned,
      takenOf(lease),
      lease,
      waiting,
    );
    this.#host.settle(this.key, surplus, holds);
    for (const { waiter } of this.adders) waiter.resolve(true, windows, now);
    for (const looker of this.lookers) looker.resolve(false, windows, now);
    const left = (unserved as typeof waiting).map(({ waiter }) => waiter);
    if (left.length === 0) return;
    if (lease.granted < this.#wanted || this.ignoresHeld)
      for (const waiter of left) waiter.resolve(false, windows, now);
    else again(this.key, left);
  }
}

/** Stores of earlier versions take what was granted from all windows, whatever is held. */
function takenOf({ taken, granted, used }: Lease): readonly number[] {
  return taken ?? used.map(() => granted);
}
