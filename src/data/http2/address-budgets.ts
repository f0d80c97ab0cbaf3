import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { clientGroup, clientSite } from '../../shared/util/time/fair-queue.ts';
import { throttledLog } from '../../shared/util/time/throttled-log.ts';
import { Counter } from '../../shared/zones/counters.ts';
import { BudgetTable } from './budget-table.ts';

/** Who opened a connection. */
export interface BudgetPeer {
  readonly peerIp: string;
  /** It is one of `trusted_ips`: other clients are behind it. */
  readonly trusted: boolean;
}

export interface AddressBudgetsOptions {
  /** How many connections one address may cost what a connection may cost at most; 0: any number. */
  readonly connections: number;
  /** A connection was refused or ended because of its address. `cause`: what the address was charged for. */
  readonly refused: (client: string, cause: string) => void;
}

/** Addresses with a budget that is not whole: about 2 MB. */
const maxAddresses = 8_192;
/** Budgets of a /64 network that all those of a /48 have together. */
const networksPerSite = 8;
/** Below this fraction of the budget, a connection that is charged ends; with none left, new ones are refused. */
const reserve = 0.1;
/** Fraction that counts as none, so that a refused address gets in again about ten times a second. */
const nothing = 0.01;

/**
 * What clients cost the worker over HTTP/2 beyond ordinary requests, by address: an attacker who opens another connection
 * does not get another budget. Addresses of an IPv6 /64 network are one client. See docs/http2.md and decision 0035.
 */
export class AddressBudgets {
  readonly #connections: number;
  readonly #refused: (client: string, cause: string) => void;
  /** Clients, and sites of IPv6 networks. */
  readonly #table = new BudgetTable(maxAddresses);

  constructor({ connections, refused }: AddressBudgetsOptions) {
    this.#connections = connections;
    this.#refused = refused;
  }

  /** Whether some address is charged at the moment: if not, all are admitted. */
  get active(): boolean {
    return this.#table.size > 0;
  }

  /** Whether a client may open a connection. */
  admits({ peerIp, trusted }: BudgetPeer): boolean {
    if (!this.active || trusted) return true;
    const client = clientGroup(peerIp);
    const site = clientSite(client);
    const now = monotonic();
    if (this.#table.left(client, now) > nothing && (site === client || this.#table.left(site, now) > nothing))
      return true;
    this.#refused(client, this.#causeOf(client, site));
    return false;
  }

  /**
   * Charges an address for what a client did on a connection. `share`: fraction of the budget of a connection. `cause`: for the log; ''
   * if the address was charged for it already. False: the address has spent its budget, so the connection must end (`ended`).
   */
  charge({ peerIp, trusted }: BudgetPeer, share: number, cause: string): boolean {
    if (this.#connections === 0 || trusted) return true;
    const client = clientGroup(peerIp);
    const site = clientSite(client);
    const now = monotonic();
    const fraction = share / this.#connections;
    const left = this.#table.spend(client, fraction, now, cause);
    const ofSite = site === client ? 1 : this.#table.spend(site, fraction / networksPerSite, now, cause);
    return left >= reserve && ofSite >= reserve;
  }

  /** A connection was ended because `charge` returned false. */
  ended({ peerIp }: BudgetPeer): void {
    const client = clientGroup(peerIp);
    this.#refused(client, this.#causeOf(client, clientSite(client)));
  }

  /** What the client was charged for; what others of its site were, if it was not charged. */
  #causeOf(client: string, site: string): string {
    return this.#table.causeOf(client) || this.#table.causeOf(site) || 'connections that ended with an error';
  }
}

/** Milliseconds between two lines of the log: clients can cause as many refusals as they like. */
const logInterval = 10_000;

/** The budgets of a worker; refusals are counted and logged. `connections`: see `AddressBudgetsOptions`. */
export function workerAddressBudgets(
  connections: number,
  counters: Float64Array,
  log: Pick<PluginLogger, 'warn'>,
): AddressBudgets {
  const warn = throttledLog<{ readonly client: string; readonly cause: string }>(logInterval, (fields, suppressed) =>
    log.warn('HTTP/2 connections of an address are refused: it has used up its budget', { ...fields, suppressed }),
  );
  return new AddressBudgets({
    connections,
    refused: (client, cause) => {
      counters[Counter.http2Refused]!++;
      warn({ client, cause });
    },
  });
}
