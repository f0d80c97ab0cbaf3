import { isIP } from 'node:net';
import { monotonic } from '../util/clock.ts';
import { mergeAddresses } from './merge-addresses.ts';
import { NameCounts } from './name-counts.ts';
import { failureDelay, refreshDelay } from './refresh-delay.ts';
import { DnsError, type NameAnswer, type NameResolver, type NameState } from './types.ts';

export interface NameTableOptions {
  readonly resolver: NameResolver;
  /** `dns_stale_ttl`, milliseconds: how long addresses are used beyond their time while the name cannot be resolved. */
  readonly staleTtl: number;
  /** `dns_not_found_ttl`, milliseconds: how long it is remembered that a name does not exist. */
  readonly notFoundTtl: number;
  /** `dns_error_ttl`, milliseconds: how long another failure is remembered; the first step of the back-off. */
  readonly errorTtl: number;
  /** `dns_cache_size`: most names; beyond it the one that was asked for longest ago is forgotten. */
  readonly size: number;
  /** `dns_no_sync`: askers of a new name do not share one query. */
  readonly noSync?: boolean;
  /** The addresses of a known name are others than before, or there are none any more. Not called for the first answer. */
  readonly onChange: (name: string, state: NameState) => void;
  /** A name begins to fail, or is well again; for the log. */
  readonly onHealth?: (name: string, state: NameState) => void;
  /** 0 to 1; spreads refreshes. */
  readonly random?: () => number;
}

interface Entry {
  readonly name: string;
  state: NameState | null;
  /** The refresh under way. */
  asking: Promise<NameState> | null;
  timer: NodeJS.Timeout | null;
  /** Failed refreshes in a row. */
  failures: number;
  /** Monotonic time until which the addresses may be used without a new answer. */
  staleUntil: number;
  /** Monotonic time until which a failure is an answer. */
  failedUntil: number;
}

/**
 * The names in use, with their addresses. A name is asked for once and then kept fresh in the background until it is
 * forgotten: who has the state of a name never waits for a server again.
 */
export class NameTable {
  readonly counts = new NameCounts();
  readonly #options: NameTableOptions;
  readonly #random: () => number;
  /** In the order in which they were asked for, the latest last. */
  readonly #entries = new Map<string, Entry>();
  #closed = false;

  constructor(options: NameTableOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  /**
   * The state of the name; waits for the answer when the name is new, or when what is known is a failure whose time is
   * over. Never rejects: failures are in the state.
   */
  async lookup(name: string): Promise<NameState> {
    const key = nameKey(name);
    if (isIP(key) !== 0) return addressState(key);
    this.counts.lookups++;
    const entry = this.#touch(key);
    const { state } = entry;
    if (state !== null && (state.addresses.length > 0 || monotonic() < entry.failedUntil)) {
      this.counts.hits++;
      if (state.stale) this.counts.stale++;
      return state;
    }
    if (entry.asking !== null && this.#options.noSync !== true) return entry.asking;
    return this.#refresh(entry);
  }

  /** What is known of the name now; null: it was not asked for yet, or its first answer is under way. */
  get(name: string): NameState | null {
    const key = nameKey(name);
    if (isIP(key) !== 0) return addressState(key);
    return this.#entries.get(key)?.state ?? null;
  }

  /** The name is not in use any more: it is not refreshed, and costs nothing. */
  forget(name: string): void {
    const entry = this.#entries.get(nameKey(name));
    if (entry === undefined) return;
    this.#entries.delete(entry.name);
    clearTimer(entry);
  }

  /** Every name with its state; null while the first answer is under way. */
  *entries(): Generator<readonly [string, NameState | null]> {
    for (const entry of this.#entries.values()) yield [entry.name, entry.state];
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Ends all refreshes. */
  close(): void {
    this.#closed = true;
    for (const entry of this.#entries.values()) clearTimer(entry);
    this.#entries.clear();
  }

  #touch(key: string): Entry {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    const entry: Entry = {
      name: key,
      state: null,
      asking: null,
      timer: null,
      failures: 0,
      staleUntil: 0,
      failedUntil: 0,
    };
    if (this.#closed) return entry;
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#options.size) this.forget(this.#entries.keys().next().value as string);
    return entry;
  }

  #refresh(entry: Entry): Promise<NameState> {
    clearTimer(entry);
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

  #succeeded(entry: Entry, answer: NameAnswer): NameState {
    const delay = refreshDelay(answer.ttl, this.#random());
    entry.failures = 0;
    entry.staleUntil = monotonic() + answer.ttl + this.#options.staleTtl;
    const addresses = mergeAddresses(entry.state?.addresses ?? [], answer.addresses);
    return this.#become(
      entry,
      { addresses, error: null, failure: null, stale: false, expires: Date.now() + delay },
      delay,
    );
  }

  #failed(entry: Entry, error: DnsError): NameState {
    this.counts.failures++;
    const { notFoundTtl, errorTtl } = this.#options;
    const now = monotonic();
    const kept = now < entry.staleUntil ? (entry.state?.addresses ?? []) : [];
    const answerFor = error.kind === 'not-found' ? notFoundTtl : errorTtl;
    entry.failedUntil = now + answerFor;
    const delay = failureDelay({
      failures: entry.failures++,
      first: kept.length === 0 ? answerFor : errorTtl,
      random: this.#random(),
    });
    // Addresses leave when their time is over, not at the next try after that.
    const due = kept.length === 0 ? delay : Math.min(delay, Math.max(1, entry.staleUntil - now));
    return this.#become(
      entry,
      {
        addresses: kept,
        error: error.message,
        failure: error.kind,
        stale: kept.length > 0,
        expires: Date.now() + due,
      },
      due,
    );
  }

  #become(entry: Entry, state: NameState, delay: number): NameState {
    const before = entry.state;
    entry.state = Object.freeze(state);
    if (this.#entries.get(entry.name) !== entry) return state;
    clearTimer(entry);
    entry.timer = setTimeout(() => void this.#refresh(entry), delay);
    entry.timer.unref();
    if (before === null) {
      if (state.error !== null) this.#options.onHealth?.(entry.name, state);
      return state;
    }
    if (before.addresses !== state.addresses && (before.addresses.length > 0 || state.addresses.length > 0)) {
      this.counts.changes++;
      this.#options.onChange(entry.name, state);
    }
    if ((before.error === null) !== (state.error === null) || before.stale !== state.stale) {
      this.#options.onHealth?.(entry.name, state);
    }
    return state;
  }
}

/** Names do not differ by case, nor by the brackets of an IPv6 address. */
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

function clearTimer(entry: Entry): void {
  if (entry.timer === null) return;
  clearTimeout(entry.timer);
  entry.timer = null;
}
