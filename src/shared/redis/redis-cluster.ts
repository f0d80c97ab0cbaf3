import type { Redis } from 'ioredis';
import { addressOf, type RedisEndpoint } from './connect.ts';
import { type Evaluation, evaluate, refused } from './evaluate.ts';
import { keySlot } from './key-slot.ts';
import { RedisRefusal, RedisUnavailable, reasonOf } from './redis-errors.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisNode } from './redis-node.ts';
import { redirectionOf, type SlotMap, slotMapOf } from './slot-map.ts';

/** Milliseconds between two requests for the slots, and before a script is sent again to a slot that is on its way. */
const refreshPause = 250;
const movePause = 20;

/** Nodes that are asked for the slots at the same time. */
const askedNodes = 3;

export interface RedisClusterOptions {
  /** Nodes to ask first. */
  readonly seeds: readonly RedisEndpoint[];
  readonly open: (endpoint: RedisEndpoint) => Promise<Redis>;
  /** Redirections that one script follows. */
  readonly maxRedirections: number;
  /** Milliseconds of each command. No redirection is followed after them. */
  readonly commandTimeout: number;
}

interface Member {
  readonly endpoint: RedisEndpoint;
  readonly node: RedisNode;
}

/**
 * The nodes of a cluster. Each is a connection of its own: one that hangs fails its own keys, and those of the others do
 * not wait. The slots are read when the first script runs, and again in the background after a redirection or a failure.
 */
export class RedisCluster implements RedisLink {
  readonly isCluster = true;
  readonly #options: RedisClusterOptions;
  readonly #members = new Map<string, Member>();
  #slots: SlotMap | null = null;
  /** Why there are no slots. */
  #outage: string | null = null;
  #reading: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: RedisClusterOptions) {
    this.#options = options;
  }

  async run(evaluation: Evaluation): Promise<unknown> {
    const slot = keySlot(evaluation.keys[0] ?? '');
    if (this.#slots === null) await this.#readFirst();
    const address = this.#slots?.[slot];
    if (address === undefined) {
      this.#readSoon();
      throw unavailable(this.#closed ? 'the connection is closed' : (this.#outage ?? `no node has the slot ${slot}`));
    }
    return await this.#follow(evaluation, slot, address);
  }

  group<T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly T[])[] {
    return [...Map.groupBy(items, (item) => keySlot(keyOf(item))).values()];
  }

  close(): void {
    this.#closed = true;
    this.#slots = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { node } of this.#members.values()) node.close();
    this.#members.clear();
  }

  /** A redirection says that the node has not run the script, so it can be sent to another. */
  async #follow(evaluation: Evaluation, slot: number, first: string): Promise<unknown> {
    const { maxRedirections, commandTimeout } = this.#options;
    const begun = performance.now();
    let member = this.#memberAt(first);
    let asking = false;
    for (let redirections = 0; ; redirections++) {
      try {
        return await evaluate(member.node, evaluation, asking);
      } catch (error) {
        const refusal = this.#refusalOf(error);
        const name = `Redis ${addressOf(member.endpoint)}`;
        const to = redirectionOf(refusal.message, member.endpoint);
        if (to === null && refusal.code !== 'TRYAGAIN') throw refused(name, refusal);
        if (this.#closed || redirections >= maxRedirections || performance.now() - begun > commandTimeout) {
          throw unavailable(`too many redirections, the last by ${name}`);
        }
        if (to === null) {
          await new Promise((resolve) => setTimeout(resolve, movePause));
          continue;
        }
        asking = to.kind === 'ASK';
        if (!asking) this.#moved(slot, addressOf(to.to));
        member = this.#member(to.to);
      }
    }
  }

  /** Throws what is not the answer of a node. */
  #refusalOf(error: unknown): RedisRefusal {
    if (!(error instanceof RedisRefusal)) {
      this.#readSoon();
      throw error;
    }
    if (error.code === 'CLUSTERDOWN' || error.code === 'READONLY') this.#readSoon();
    return error;
  }

  #moved(slot: number, address: string): void {
    if (this.#slots !== null) this.#slots[slot] = address;
    this.#readSoon();
  }

  #memberAt(address: string): Member {
    const colon = address.lastIndexOf(':');
    return (
      this.#members.get(address) ??
      this.#member({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)) })
    );
  }

  #member(endpoint: RedisEndpoint): Member {
    const address = addressOf(endpoint);
    let member = this.#members.get(address);
    if (member === undefined) {
      member = { endpoint, node: new RedisNode(`Redis ${address}`, () => this.#options.open(endpoint)) };
      this.#members.set(address, member);
    }
    return member;
  }

  async #readFirst(): Promise<void> {
    if (this.#closed || this.#outage !== null) return;
    await this.#read();
  }

  #readSoon(): void {
    if (this.#closed || this.#timer !== null || this.#reading !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#read();
    }, refreshPause);
    this.#timer.unref();
  }

  /** Never rejects. Without slots it is repeated until there are some. */
  #read(): Promise<void> {
    this.#reading ??= this.#readSlots().finally(() => {
      this.#reading = null;
      if (this.#outage !== null) this.#readSoon();
    });
    return this.#reading;
  }

  async #readSlots(): Promise<void> {
    try {
      const slots = await this.#askSome();
      if (this.#closed) return;
      this.#slots = slots;
      this.#outage = null;
      this.#retire();
    } catch (error) {
      if (this.#slots === null) this.#outage = reasonOf(error);
    }
  }

  /** The first answer counts, so no node that hangs delays it. */
  async #askSome(): Promise<SlotMap> {
    const available = [...this.#members.values()].filter(({ node }) => node.isAvailable);
    const start = Math.floor(Math.random() * available.length);
    const some = [...available.slice(start), ...available.slice(0, start)].slice(0, askedNodes);
    try {
      if (some.length > 0) return await Promise.any(some.map(askMember));
    } catch {
      // The seeds may have new addresses by now.
    }
    try {
      return await Promise.any(this.#options.seeds.map((seed) => askMember(this.#member(seed))));
    } catch (error) {
      const reasons = error instanceof AggregateError ? error.errors.map(reasonOf) : [reasonOf(error)];
      throw new Error(reasons.join('; '));
    }
  }

  /** Closes the connections to nodes that have no slots any more, when their last commands must have been answered. */
  #retire(): void {
    const used = new Set(this.#slots);
    for (const [address, { node }] of this.#members) {
      if (used.has(address)) continue;
      this.#members.delete(address);
      setTimeout(() => node.close(), this.#options.commandTimeout).unref();
    }
  }
}

async function askMember({ node, endpoint }: Member): Promise<SlotMap> {
  return slotMapOf(await node.send([['CLUSTER', 'SLOTS']], false), endpoint);
}

function unavailable(reason: string): RedisUnavailable {
  return new RedisUnavailable(`the Redis cluster does not answer: ${reason}`);
}
