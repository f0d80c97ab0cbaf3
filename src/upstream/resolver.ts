import { type LookupAddress, lookup } from 'node:dns';
import { isIP } from 'node:net';
import { monotonic } from '../util/clock.ts';

/** How long an answer of the system's resolver is taken as fresh: it does not tell the records' own times. */
const freshMilliseconds = 10_000;
const retryMilliseconds = 1_000;
const maxNames = 10_000;

interface Entry {
  addresses: readonly string[];
  next: number;
  freshUntil: number;
  staleUntil: number;
  waiting: ((addresses: readonly string[]) => void)[] | null;
}

/**
 * Addresses of host names, from memory on the hot path. A name that is due is refreshed in the background while its
 * last answer is still used; when the resolver fails, the last answer stays in use for `staleTtl`.
 */
export class Resolver {
  readonly #names = new Map<string, Entry>();
  readonly #staleTtl: number;

  /** `staleTtl`: milliseconds. */
  constructor(staleTtl: number) {
    this.#staleTtl = staleTtl;
  }

  /** The next address of the name, in turn; null when it must be asked for (`resolve`) first. */
  next(host: string): string | null {
    if (isIP(host) !== 0) return host;
    const entry = this.#names.get(host);
    if (entry === undefined || entry.addresses.length === 0) return null;
    const now = monotonic();
    if (now > entry.staleUntil) return null;
    if (now > entry.freshUntil && entry.waiting === null) this.#ask(host, entry);
    entry.next = (entry.next + 1) % entry.addresses.length;
    return entry.addresses[entry.next] as string;
  }

  /** Calls back with whether the name has an address now. */
  resolve(host: string, done: (found: boolean) => void): void {
    let entry = this.#names.get(host);
    if (entry === undefined) {
      if (this.#names.size >= maxNames) this.#names.delete(this.#names.keys().next().value as string);
      entry = { addresses: [], next: -1, freshUntil: 0, staleUntil: 0, waiting: null };
      this.#names.set(host, entry);
    }
    if (entry.waiting === null && entry.freshUntil > monotonic()) {
      done(entry.addresses.length > 0);
      return;
    }
    if (entry.waiting === null) this.#ask(host, entry);
    (entry.waiting as unknown as ((addresses: readonly string[]) => void)[]).push((addresses) =>
      done(addresses.length > 0),
    );
  }

  #ask(host: string, entry: Entry): void {
    entry.waiting = [];
    lookup(host, { all: true, order: 'verbatim' }, (error, found) => {
      const now = monotonic();
      const addresses = error === null ? preferIpv4(found) : [];
      if (addresses.length > 0) {
        entry.addresses = addresses;
        entry.freshUntil = now + freshMilliseconds;
        entry.staleUntil = now + freshMilliseconds + this.#staleTtl;
      } else {
        entry.freshUntil = now + retryMilliseconds;
        if (now > entry.staleUntil) entry.addresses = [];
      }
      const waiting = entry.waiting ?? [];
      entry.waiting = null;
      for (const done of waiting) done(entry.addresses);
    });
  }
}

/** IPv6 only for names that have nothing else, as Kong's default record order has it. */
function preferIpv4(found: readonly LookupAddress[]): readonly string[] {
  const ipv4 = found.filter((address) => address.family === 4);
  return (ipv4.length > 0 ? ipv4 : found).map((address) => address.address);
}
