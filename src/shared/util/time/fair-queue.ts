import { addressGroup } from '../net/address-group.ts';

export interface FairQueueOptions {
  /** Maximum concurrent tasks. */
  readonly concurrency: number;
  /** Maximum concurrent tasks of one group, so that slow tasks of one client leave room for others. Default: `concurrency`. */
  readonly concurrencyPerGroup?: number;
  /** Maximum queued tasks. */
  readonly maxWaiting: number;
  /** Maximum queued tasks of one group. Default: half of `maxWaiting`. */
  readonly maxWaitingPerGroup?: number;
  /** Milliseconds that a task may wait. Default 10 s. */
  readonly maxWait?: number;
}

/** A task that was not started: its group or the queue is full, it waited too long, or the queue was closed. */
export const overloaded: unique symbol = Symbol('overloaded');
export type Overloaded = typeof overloaded;

interface Entry {
  readonly start: () => void;
  readonly refuse: () => void;
  readonly timer: NodeJS.Timeout;
}

interface Group {
  readonly name: string;
  readonly site: Site;
  /** Oldest first; a timed-out entry leaves it at once. */
  readonly waiting: Set<Entry>;
  running: number;
}

/** The groups of one site: the /64 networks that share a /48. Every other group is a site of its own. */
interface Site {
  readonly name: string;
  /** Groups with waiting tasks, in round-robin order. */
  readonly rotation: Set<Group>;
  groups: number;
  waiting: number;
}

/** Clients with IPv6 own whole networks: addresses with these first bits in common are one client. */
const clientPrefix = 64;
/** The largest network that one subscriber usually gets: an attacker with a /48 has 65,536 networks to wait in. */
const sitePrefix = 48;

/** The group of a client address: the address itself, or the /64 network of an IPv6 address. */
export function clientGroup(ip: string): string {
  return addressGroup(ip, clientPrefix);
}

/** The site of a client's group: a /48 network of IPv6, else the group itself. */
export function clientSite(group: string): string {
  return group.endsWith(`::/${clientPrefix}`) ? addressGroup(group.slice(0, group.indexOf('/')), sitePrefix) : group;
}

/**
 * Runs a bounded number of tasks at a time. Others wait in one queue per group (usually the client, see `clientGroup`).
 * Sites are scheduled round-robin, and so are the groups of a site: a client that floods the queue waits behind itself,
 * not ahead of others. When the queue is full, a new task displaces the newest one of the site, or of the group in its
 * own site, that has most waiting.
 */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>;
  /** Groups with tasks that run or wait. */
  readonly #groups = new Map<string, Group>();
  readonly #sites = new Map<string, Site>();
  /** Sites with waiting tasks, in round-robin order. */
  readonly #rotation = new Set<Site>();
  #running = 0;
  #waiting = 0;
  #closed = false;

  constructor(options: FairQueueOptions) {
    const { concurrency, maxWaiting } = options;
    const defaults = {
      concurrencyPerGroup: concurrency,
      maxWaitingPerGroup: Math.ceil(maxWaiting / 2),
      maxWait: 10_000,
    };
    this.#options = { ...defaults, ...options };
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The result of the task; `overloaded` when it was not started. Rejects only when the task does. */
  run<T>(groupName: string, task: () => Promise<T>): Promise<T | Overloaded> {
    if (this.#closed) return Promise.resolve(overloaded);
    const group = this.#group(groupName);
    if (this.#mayRun(group)) return this.#start(group, task);
    if (!this.#hasRoom(group)) {
      this.#release(group);
      return Promise.resolve(overloaded);
    }
    return new Promise((resolve) => {
      const entry: Entry = {
        start: () => resolve(this.#start(group, task)),
        refuse: () => resolve(overloaded),
        timer: setTimeout(() => this.#refuse(group, entry), this.#options.maxWait),
      };
      group.waiting.add(entry);
      group.site.waiting++;
      this.#waiting++;
      group.site.rotation.add(group);
      this.#rotation.add(group.site);
    });
  }

  /** Rejects all waiting tasks and all later ones; running tasks finish. */
  close(): void {
    this.#closed = true;
    for (const site of [...this.#rotation]) {
      for (const group of [...site.rotation]) for (const entry of [...group.waiting]) this.#refuse(group, entry);
    }
  }

  #group(name: string): Group {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { name, site: this.#site(clientSite(name)), waiting: new Set(), running: 0 };
      group.site.groups++;
      this.#groups.set(name, group);
    }
    return group;
  }

  #site(name: string): Site {
    let site = this.#sites.get(name);
    if (site === undefined) {
      site = { name, rotation: new Set(), groups: 0, waiting: 0 };
      this.#sites.set(name, site);
    }
    return site;
  }

  #mayRun(group: Group): boolean {
    return this.#running < this.#options.concurrency && group.running < this.#options.concurrencyPerGroup;
  }

  async #start<T>(group: Group, task: () => Promise<T>): Promise<T> {
    this.#running++;
    group.running++;
    try {
      return await task();
    } finally {
      this.#running--;
      group.running--;
      this.#release(group);
      this.#startNext();
    }
  }

  /** Starts the oldest task of the next group; that group and its site then move to the end of their lists. */
  #startNext(): void {
    if (this.#running >= this.#options.concurrency) return;
    for (const site of this.#rotation) {
      for (const group of site.rotation) {
        const [entry] = group.waiting;
        if (entry === undefined || !this.#mayRun(group)) continue;
        this.#remove(group, entry);
        moveToEnd(site.rotation, group, group.waiting.size > 0);
        moveToEnd(this.#rotation, site, site.waiting > 0);
        entry.start();
        return;
      }
    }
  }

  #hasRoom(group: Group): boolean {
    const { maxWaiting, maxWaitingPerGroup } = this.#options;
    const own = group.waiting.size;
    if (own >= maxWaitingPerGroup) return false;
    if (this.#waiting < maxWaiting) return true;
    const site = largestOf(this.#rotation, ({ waiting }) => waiting);
    const isOther = site !== null && site.waiting > group.site.waiting + 1;
    const largest = largestOf((isOther ? site : group.site).rotation, ({ waiting }) => waiting.size);
    if (largest === null || (!isOther && largest.waiting.size <= own + 1)) return false;
    const newest = [...largest.waiting].at(-1);
    if (newest !== undefined) this.#refuse(largest, newest);
    return true;
  }

  #refuse(group: Group, entry: Entry): void {
    this.#remove(group, entry);
    if (group.waiting.size === 0) group.site.rotation.delete(group);
    if (group.site.waiting === 0) this.#rotation.delete(group.site);
    this.#release(group);
    entry.refuse();
  }

  #remove(group: Group, entry: Entry): void {
    clearTimeout(entry.timer);
    if (!group.waiting.delete(entry)) return;
    group.site.waiting--;
    this.#waiting--;
  }

  #release(group: Group): void {
    if (group.running > 0 || group.waiting.size > 0 || !this.#groups.delete(group.name)) return;
    if (--group.site.groups === 0) this.#sites.delete(group.site.name);
  }
}

function moveToEnd<T>(rotation: Set<T>, one: T, stays: boolean): void {
  rotation.delete(one);
  if (stays) rotation.add(one);
}

function largestOf<T>(all: Iterable<T>, sizeOf: (one: T) => number): T | null {
  let largest: T | null = null;
  for (const one of all) if (largest === null || sizeOf(one) > sizeOf(largest)) largest = one;
  return largest;
}
