import { randomBytes } from 'node:crypto';
import type { HeaderBlock } from '../../../plugin-sdk/index.ts';
import { type Address, type CacheTarget, type HeaderValues, urlOf, variantKey } from '../rules/cache-key.ts';
import { type StorageTerms, storedHeaders, tagsOf } from '../rules/cacheability.ts';
import type { StoredResponse } from '../rules/freshness.ts';
import type { CachePolicy } from '../rules/policy.ts';
import { decodeHead, encodeIndex, encodeResponse, type VariantIndex } from './entry-format.ts';
import { chain, type EntryStore, type MaybePromise, type StoredEntry } from './entry-store.ts';
import { preciseNow } from './precise-now.ts';
import { noPurges, type PurgeLog } from './purge-log.ts';

/** A response that was found. */
export interface CachedResponse {
  readonly key: string;
  readonly entry: StoredEntry;
  readonly response: StoredResponse;
}

export interface LookupResult {
  readonly cached: CachedResponse | null;
  /** Where the response to the request is, or would most likely be stored. */
  readonly key: string;
  /** An index names this key. */
  readonly indexed: boolean;
  /** The last response with this key could not be stored: requests do not wait for each other. */
  readonly hitForMiss: boolean;
}

/** A response to store. Times are milliseconds since the epoch. */
export interface StorableResponse {
  readonly target: CacheTarget;
  readonly status: number;
  /** As the backend sent them. */
  readonly headers: HeaderBlock;
  readonly body: Uint8Array;
  readonly terms: StorageTerms;
  /** `preciseNow()` when the request was sent to the backend. */
  readonly sentAt: number;
  readonly responseTime: number;
  /** Used if the headers name no tags: those of the response that this one validated. */
  readonly tags?: readonly string[];
}

/** An index is kept this much longer than its responses, in milliseconds, so that not every put has to write it. */
const indexMargin = 86_400_000;

const maxVaryNamesOfIndex = 32;

const emptyBody = new Uint8Array(0);

/** The head of an entry that says, for some seconds, that a response could not be stored (hit-for-miss in Varnish). */
const hitForMissMark = 'U1';

/** Begins the head of an entry that invalidates an address: responses requested before its time are not stored. */
const invalidatedMark = 'P1 ';

/** Milliseconds for which an invalidation is kept. */
const invalidationTime = 10_000;

/** Finds and stores responses: at the key of their address, or by an index if the address has several responses. */
export class CacheStore {
  readonly #store: EntryStore;
  readonly #policy: CachePolicy;
  readonly #purges: PurgeLog;
  /** Stores that cache entries return the same object as long as the entry has not changed. */
  readonly #decoded = new WeakMap<StoredEntry, StoredResponse | VariantIndex | null>();

  constructor(store: EntryStore, policy: CachePolicy, purges: PurgeLog = noPurges) {
    this.#store = store;
    this.#policy = policy;
    this.#purges = purges;
  }

  find(target: CacheTarget, headers: HeaderValues): MaybePromise<LookupResult> {
    const entry = this.#store.get(target.key);
    return entry instanceof Promise
      ? entry.then((found) => this.#findAtAddress(target, found, headers))
      : this.#findAtAddress(target, entry, headers);
  }

  /**
   * The key to store a response at; writes the index that leads there if one is needed. A response that is put at a key
   * reserved before its address was purged is not found any more, unless it is the only one of its address.
   * Null: the address has been invalidated since the request was sent at `sentAt`.
   */
  reserve(
    target: CacheTarget,
    terms: StorageTerms,
    sentAt: number,
    headers: HeaderValues,
  ): MaybePromise<string | null> {
    return chain(this.#store.get(target.key), (entry) =>
      isInvalidated(entry, sentAt) ? null : this.#reserveKey(entry, target, terms, headers),
    );
  }

  /** `key`: from `reserve`. False: there was no room, or it was purged since it was requested. */
  put(key: string, response: StorableResponse): MaybePromise<boolean> {
    const put = (): MaybePromise<boolean> => this.#putUnlessPurged(key, this.#entryOf(response), response.sentAt);
    if (key !== response.target.key) return put();
    return chain(this.#store.get(key), (entry) => isInvalidated(entry, response.sentAt) || put());
  }

  #putUnlessPurged(key: string, entry: StoredEntry, sentAt: number): MaybePromise<boolean> {
    const hasPurged = (): MaybePromise<boolean> => this.#purges.hasPurged(key, entry, sentAt);
    // Before, so that nobody gets it in between; and after, because a purge may have happened in between.
    return chain(hasPurged(), (early) => {
      if (early) return false;
      return chain(this.#store.put(key, entry), (stored) => {
        if (!stored) return false;
        return chain(hasPurged(), (late) => (late ? chain(this.#store.purge({ key }), () => false) : true));
      });
    });
  }

  /** Invalidates what is stored at an address, and the responses that are on their way from there. */
  invalidate(key: string, address: Address): MaybePromise<boolean> {
    return this.#putMark(key, `${invalidatedMark}${preciseNow()}`, invalidationTime, address);
  }

  /** Records for some milliseconds that the response with this key cannot be stored. */
  markHitForMiss(key: string, { address }: CacheTarget, milliseconds: number): MaybePromise<boolean> {
    return this.#putMark(key, hitForMissMark, milliseconds, address);
  }

  #putMark(key: string, head: string, milliseconds: number, address: Address): MaybePromise<boolean> {
    const expires = Date.now() + milliseconds;
    return this.#store.put(key, { head, body: emptyBody, expires, tags: [], url: urlOf(address) });
  }

  /** What an entry contains, decoded once. */
  #decode(entry: StoredEntry): StoredResponse | VariantIndex | null {
    const known = this.#decoded.get(entry);
    if (known !== undefined) return known;
    const value = decodeHead(entry.head);
    this.#decoded.set(entry, value);
    return value;
  }

  #findAtAddress(target: CacheTarget, entry: StoredEntry | null, headers: HeaderValues): MaybePromise<LookupResult> {
    const value = entry === null ? null : this.#decode(entry);
    if (entry === null || value === null) {
      const key = expectedKey(target);
      return { cached: null, key, indexed: false, hitForMiss: entry?.head === hitForMissMark };
    }
    if (value.kind === 'index') return this.#findVariant(target, value, headers);
    const matches = value.partition === target.partition && (target.identity === '' || value.isPublic);
    // The response of another partition or client: storing the next one will create an index.
    if (!matches) return { cached: null, key: privateKey(target), indexed: false, hitForMiss: false };
    const cached = { key: target.key, entry, response: value };
    return { cached, key: target.key, indexed: false, hitForMiss: false };
  }

  #findVariant(target: CacheTarget, index: VariantIndex, headers: HeaderValues): MaybePromise<LookupResult> {
    const ownKey = variantKey(target, target.identity, index.generation, index.varyNames, headers);
    const own = this.#findAt(ownKey, target);
    if (target.identity === '' || !index.hasPublic) return own;
    const sharedKey = variantKey(target, '', index.generation, index.varyNames, headers);
    const orShared = (result: LookupResult): MaybePromise<LookupResult> => {
      if (result.cached !== null) return result;
      const shared = this.#findAt(sharedKey, target);
      const choose = (other: LookupResult): LookupResult => (other.cached?.response.isPublic === true ? other : result);
      return shared instanceof Promise ? shared.then(choose) : choose(shared);
    };
    return own instanceof Promise ? own.then(orShared) : orShared(own);
  }

  #findAt(key: string, target: CacheTarget): MaybePromise<LookupResult> {
    const read = (entry: StoredEntry | null): LookupResult => {
      const value = entry === null ? null : this.#decode(entry);
      if (entry === null || value?.kind !== 'response' || value.partition !== target.partition) {
        return { cached: null, key, indexed: true, hitForMiss: entry?.head === hitForMissMark };
      }
      return { cached: { key, entry, response: value }, key, indexed: true, hitForMiss: false };
    };
    const entry = this.#store.get(key);
    return entry instanceof Promise ? entry.then(read) : read(entry);
  }

  #reserveKey(
    entry: StoredEntry | null,
    target: CacheTarget,
    terms: StorageTerms,
    headers: HeaderValues,
  ): MaybePromise<string> {
    const value = entry === null ? null : this.#decode(entry);
    const shared = target.identity === '' || terms.isPublic;
    if (value?.kind !== 'index' && shared && terms.vary.length === 0) {
      if (value === null || value.partition === target.partition) return target.key;
    }
    const known = value?.kind === 'index' ? value : null;
    const index = indexFor(known, terms);
    const identity = terms.isPublic ? '' : target.identity;
    const key = variantKey(target, identity, index.generation, index.varyNames, headers);
    if (index === known && entry !== null && entry.expires >= terms.expires) return key;
    const written = this.#store.put(target.key, {
      head: encodeIndex(index),
      body: emptyBody,
      expires: terms.expires + indexMargin,
      tags: [],
      url: urlOf(target.address),
    });
    return written instanceof Promise ? written.then(() => key) : key;
  }

  #entryOf({ target, status, headers, body, terms, responseTime, tags }: StorableResponse): StoredEntry {
    const named = tagsOf(headers, this.#policy);
    const response = { ...terms, status, storedAt: responseTime, partition: target.partition };
    return {
      head: encodeResponse({ ...response, headers: storedHeaders(headers, this.#policy, responseTime) }),
      body,
      expires: terms.expires,
      tags: named.length > 0 ? named : (tags ?? []),
      url: urlOf(target.address),
    };
  }
}

/** Where the only response of an address would be; identified clients do not wait for each other's responses. */
function expectedKey(target: CacheTarget): string {
  return target.identity === '' ? target.key : privateKey(target);
}

function privateKey(target: CacheTarget): string {
  return variantKey(target, target.identity, '', [], noHeaders);
}

const noHeaders: HeaderValues = () => [];

function isInvalidated(entry: StoredEntry | null, sentAt: number): boolean {
  return entry?.head.startsWith(invalidatedMark) === true && Number(entry.head.slice(invalidatedMark.length)) >= sentAt;
}

/** The same object if nothing changes. Names are only added: responses of one address differ in their `Vary`. */
function indexFor(known: VariantIndex | null, terms: StorageTerms): VariantIndex {
  if (known === null) {
    const generation = randomBytes(9).toString('base64url');
    return { kind: 'index', generation, hasPublic: terms.isPublic, varyNames: terms.vary };
  }
  const hasPublic = known.hasPublic || terms.isPublic;
  const grows = terms.vary.some((name) => !known.varyNames.includes(name));
  if (!grows && hasPublic === known.hasPublic) return known;
  const names = grows ? [...new Set([...known.varyNames, ...terms.vary])].sort() : known.varyNames;
  return { ...known, hasPublic, varyNames: names.length > maxVaryNamesOfIndex ? terms.vary : names };
}
