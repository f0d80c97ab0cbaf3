import { addressGroup } from '../../shared/util/net/address-group.ts';
import type { BodyHolder, BodyMemory } from './exchange.ts';

export interface BodyBudgetOptions {
  /** Bytes that all requests of the worker may hold; 0: no limit. */
  readonly total: number;
  /** Bytes that the requests of one client may hold; 0: limited by its share of the total only. */
  readonly perClient: number;
  /** Called for each request that is refused. */
  readonly refused: () => void;
  /** Called when refusing begins, with the client that was refused first, and when it ends, with the number of refusals. */
  readonly began: (client: string) => void;
  readonly ended: (refusals: number) => void;
}

/** IPv6 addresses with the same prefix of this length are one client. */
const ipv6Prefix = 64;
/** Milliseconds without a refusal after which refusing has ended. */
const quietTime = 2_000;

/**
 * The memory of bodies that a worker collects for plugins. A client may hold as much as is still free, so a single client
 * gets at most half of the total, and others always have room.
 */
export class BodyBudget implements BodyMemory {
  readonly #options: BodyBudgetOptions;
  readonly #total: number;
  readonly #perClient: number;
  readonly #byClient = new Map<string, number>();
  #held = 0;
  #refusals = 0;
  #refusalsSeen = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: BodyBudgetOptions) {
    this.#options = options;
    this.#total = options.total > 0 ? options.total : Number.POSITIVE_INFINITY;
    this.#perClient = options.perClient > 0 ? options.perClient : Number.POSITIVE_INFINITY;
  }

  /** Bytes held by all requests. */
  get held(): number {
    return this.#held;
  }

  /** Reserves memory for the exchange until `release`. False: none is free, so the request must be refused. */
  reserve(x: BodyHolder, bytes: number): boolean {
    // The exchange is over: memory reserved now would never be released.
    if (x.finished) return false;
    const client = addressGroup(x.clientIp, ipv6Prefix);
    const share = (this.#byClient.get(client) ?? 0) + bytes;
    if (share > this.#perClient || share > this.#total - this.#held - bytes) {
      this.#refuse(client);
      return false;
    }
    this.#byClient.set(client, share);
    x.heldBytes += bytes;
    this.#held += bytes;
    return true;
  }

  /** The exchange no longer holds bodies. */
  release(x: BodyHolder): void {
    if (x.heldBytes === 0) return;
    const client = addressGroup(x.clientIp, ipv6Prefix);
    const share = (this.#byClient.get(client) ?? 0) - x.heldBytes;
    if (share > 0) this.#byClient.set(client, share);
    else this.#byClient.delete(client);
    this.#held -= x.heldBytes;
    x.heldBytes = 0;
  }

  /** Reserves memory that a request can do without. Half of the total is reserved for those that cannot. */
  reserveSpare(bytes: number): boolean {
    if (this.#held + bytes > this.#total / 2) return false;
    this.#held += bytes;
    return true;
  }

  releaseSpare(bytes: number): void {
    this.#held -= bytes;
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #refuse(client: string): void {
    this.#refusals++;
    this.#options.refused();
    if (this.#timer !== null) return;
    this.#options.began(client);
    this.#timer = setInterval(() => this.#look(), quietTime).unref();
  }

  #look(): void {
    if (this.#refusals !== this.#refusalsSeen) {
      this.#refusalsSeen = this.#refusals;
      return;
    }
    this.close();
    this.#options.ended(this.#refusals);
    this.#refusals = 0;
    this.#refusalsSeen = 0;
  }
}
