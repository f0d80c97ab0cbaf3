import { isIP } from 'node:net';
import { monotonic } from '../../shared/util/time/clock.ts';
import { mergeAddresses } from './merge-addresses.ts';
import { NameCounts } from './name-counts.ts';
import { NameEntry } from './name-entry.ts';
import { failureDelay, refreshDelay } from './refresh-delay.ts';
import { DnsError, type NameAnswer, type NameResolver, type NameState, type ResolvedAddress } from './types.ts';

const none: readonly ResolvedAddress[] = Object.freeze([]);

export interface NameTableOptions {
  readonly resolver: NameResolver;
  /** `dns_stale_ttl`, milliseconds: how long addresses are used beyond their TTL while the name cannot be resolved. */
  readonly staleTtl: number;
  /** `dns_not_found_ttl`, milliseconds: how long the absence of a name is cached. */
  readonly notFoundTtl: number;
  /** `dns_error_ttl`, milliseconds: how long another failure is cached; the first delay of the back-off. */
  readonly errorTtl: number;
  /** `dns_cache_size`: maximum names without a watch; beyond it the least recently looked-up one is evicted. */
  readonly size: number;
  /** `dns_no_sync`: simultaneous lookups of a new name do not share one query. */
  readonly noSync?: boolean;
  /**
   * Called with the first answer for a name, also a failure, and with each change of its addresses. Called before the
   * promise of `lookup` resolves. The name is in lower case.
   */
  readonly onChange: (name: string, state: NameState) => void;
  /** The name was evicted: no changes are reported until it is looked up again. Not called for `remove`. */
  readonly onRemove?: (name: string) => void;
  /** A name begins to fail, loses its stale addresses, or recovers; for the log. */
  readonly onHealth?: (name: string, state: NameState) => void;
  /** 0 to 1; spreads refreshes. */
  readonly random?: () => number;
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number;
}

/**
 * The names in use, with their addresses. A name is looked up once and then refreshed in the background, so later lookups never
 * wait for a server. Names are case-insensitive. An IP address resolves to itself and is not stored.
 */
export class NameTable {
  readonly counts = new NameCounts();
  readonly #options: NameTableOptions;
  readonly #random: () => number;
  readonly #now: () => number;
  /** In the order in which they were looked up, the latest last. */
  readonly #entries = new Map<string, NameEntry>();
  #watched = 0;
  #closed = false;

  constructor(options: NameTableOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#now = options.now ?? monotonic;
  }

  /**
   * The state of the name; waits for the answer when the name is new, or when its cached failure has expired.
   * Never rejects: failures are in the state.
   */
  async lookup(name: string): Promise<NameState> {
    const key = nameKey(name);
    if (isIP(key) !== 0) return addressState(key);
    this.counts.lookups++;
    const entry = this.#entry(key);
    entry.lookedUp = this.#now();
    this.#moveToEnd(entry);
    const { state } = entry;
    if (state !== null && (state.addresses.length > 0 || entry.lookedUp < entry.failedUntil)) {
      this.counts.hits++;
      if (state.stale) this.counts.stale++;
      return state;
    }
    if (entry.asking !== null && this.#options.noSync !== true) return entry.asking;
    return this.#refresh(entry);
  }

  /** The current state of the name; null: it was not looked up yet, or the first query is in progress. */
  get(name: string): NameState | null {
    const key = nameKey(name);
    if (isIP(key) !== 0) return addressState(key);
    return this.#entries.get(key)?.state ?? null;
  }

  /** Looks the name up, and refreshes it until as many `unwatch` calls have followed, however many other names there are. */
  watch(name: string): void {
    const key = nameKey(name);
    if (isIP(key) !== 0) return;
    const entry = this.#entry(key);
    if (entry.watchers++ === 0) this.#watched++;
    if (entry.state === null && entry.asking === null) void this.#refresh(entry);
  }

  /** Undoes one `watch`. The name is removed, unless it was also looked up. */
  unwatch(name: string): void {
    const entry = this.#entries.get(nameKey(name));
    if (entry === undefined || entry.watchers === 0 || --entry.watchers > 0) return;
    this.#watched--;
    if (entry.isIdle(this.#now())) this.#drop(entry);
  }

  /** The name is not in use any more, unless it is watched. */
  remove(name: string): void {
    const entry = this.#entries.get(nameKey(name));
    if (entry === undefined) return;
    entry.lookedUp = 0;
    if (entry.watchers === 0) this.#drop(entry);
  }

  /** Every name with its state; null while the first query is in progress. */
  *entries(): Generator<readonly [string, NameState | null]> {
    for (const entry of this.#entries.values()) yield [entry.name, entry.state];
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Stops all refreshes. */
  close(): void {
    this.#closed = true;
    for (const entry of this.#entries.values()) this.#drop(entry);
  }

  #entry(key: string): NameEntry {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry = new NameEntry(key);
    if (this.#closed) return entry;
    if (this.#entries.size - this.#watched >= this.#options.size) this.#makeRoom();
    this.#entries.set(key, entry);
    return entry;
  }

  #makeRoom(): void {
    for (const entry of this.#entries.values()) {
      if (entry.watchers > 0) continue;
      this.#throwOut(entry);
      return;
    }
  }

  #moveToEnd(entry: NameEntry): void {
    if (this.#entries.delete(entry.name)) this.#entries.set(entry.name, entry);
  }

  #throwOut(entry: NameEntry): void {
    this.#drop(entry);
    this.#options.onRemove?.(entry.name);
  }

  #drop(entry: NameEntry): void {
    this.#entries.delete(entry.name);
    entry.sleep();
  }

  #due(entry: NameEntry): void {
    if (entry.isIdle(this.#now())) this.#throwOut(entry);
    else void this.#refresh(entry);
  }

  #refresh(entry: NameEntry): Promise<NameState> {
    entry.sleep();
    this.counts.refreshes++;
    const asking = this.#options.resolver.resolve(entry.name).then(
      (answer) => this.#succeeded(entry, answer),
      (error: unknown) => this.#failed(entry, asDnsError(error)),
    );
    entry.asking = asking;
    const done = (): void => {
      if (entry.asking === asking) entry.asking = null;
    };
    void asking.then(done, done);
    return asking;
  }

  #succeeded(entry: NameEntry, answer: NameAnswer): NameState {
    const delay = refreshDelay(answer.ttl, this.#random());
    entry.failures = 0;
    entry.staleUntil = this.#now() + answer.ttl + this.#options.staleTtl;
    const addresses = mergeAddresses(entry.state?.addresses ?? none, answer.addresses);
    return this.#become(entry, { addresses, error: null, failure: null, stale: false, expires: expiry(delay) }, delay);
  }

  #failed(entry: NameEntry, error: DnsError): NameState {
    this.counts.failures++;
    const { notFoundTtl, errorTtl } = this.#options;
    const now = this.#now();
    const known = entry.state?.addresses ?? none;
    const kept = now < entry.staleUntil || known.length === 0 ? known : none;
    const answerFor = error.kind === 'not-found' ? notFoundTtl : errorTtl;
    const first = kept.length === 0 ? answerFor : errorTtl;
    const delay = failureDelay({ failures: entry.failures++, first, random: this.#random() });
    entry.failedUntil = now + answerFor;
    // Addresses are removed when their TTL is over, not at the next attempt after that.
    const due = kept.length === 0 ? delay : Math.min(delay, Math.max(1, entry.staleUntil - now));
    const state = {
      addresses: kept,
      error: error.message,
      failure: error.kind,
      stale: kept.length > 0,
      expires: expiry(due),
    };
    return this.#become(entry, state, due);
  }

  #become(entry: NameEntry, state: NameState, delay: number): NameState {
    const before = entry.state;
    entry.state = Object.freeze(state);
    // The name was removed, or the table is closed: only the waiting lookups receive the answer.
    if (this.#entries.get(entry.name) !== entry) return state;
    entry.wake(delay, () => this.#due(entry));
    this.#report(entry.name, before, state);
    return state;
  }

  #report(name: string, before: NameState | null, state: NameState): void {
    if (before === null || before.addresses !== state.addresses) {
      this.counts.changes++;
      this.#options.onChange(name, state);
    }
    const wasWell = before === null || before.error === null;
    const isWell = state.error === null;
    if (wasWell !== isWell || (before?.stale === true && state.addresses.length === 0)) {
      this.#options.onHealth?.(name, state);
    }
  }
}

function expiry(delay: number): number {
  return Math.round(Date.now() + delay);
}

/** Names are case-insensitive; an IPv6 address may have brackets. */
function nameKey(name: string): string {
  const bare = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  return bare.toLowerCase();
}

function addressState(ip: string): NameState {
  return {
    addresses: [{ ip, port: null, weight: null, name: ip }],
    error: null,
    failure: null,
    stale: false,
    expires: Number.POSITIVE_INFINITY,
  };
}

function asDnsError(error: unknown): DnsError {
  if (error instanceof DnsError) return error;
  return new DnsError('failed', `dns client error: ${error instanceof Error ? error.message : String(error)}`);
}
