/*
 * How the memory of a shared store is laid out. It begins with zeros, which are an empty store:
 *
 *   header    1 KiB: the seed (zone-seed.ts), locks and counts, each lock on a cache line of its own
 *   records   64 bytes for the control plane and each worker: the pages it is writing to, its hits and misses
 *   flights   32 bytes each, in buckets of 8
 *   tags      a word for each slot: the low half of its key's hash, 0: free; 16 slots are a bucket and a cache line
 *   slots     64 bytes each: what is known of an entry
 *   next      a word for each page: the page after it in its entry plus 1, 0: none
 *   owners    a word for each page: its entry's slot plus 1, 0: free, -1: being written
 *   pages     1 KiB each. An entry begins with its key, then `meta`, then `body`
 */

export const pageBytes = 1024;
/** Slots of a bucket. */
export const ways = 16;
/** 32-bit words of a slot, of a thread's record and of a flight. */
export const slotWords = 16;
export const recordWords = 16;
export const flightWords = 8;
export const flightWays = 8;
/** The control plane and 1,024 workers. */
export const records = 1025;
/** Maximum uses of an entry that are counted. */
export const maxUses = 3;
/** Minimum bytes of a store. */
export const minStoreBytes = 262_144;

const headerWords = 256;
const firstRecord = headerWords;
const firstFlight = firstRecord + records * recordWords;
/** A page, its words in `next` and `owners`, a slot and its tag: an entry has a page at least. */
const bytesPerPage = pageBytes + 4 + 4 + slotWords * 4 + 4;

/** Words of the header. */
export const Header = Object.freeze({
  /** Number of the thread that changes the store, 0: none. */
  lock: 16,
  flightLock: 32,
  /** Entries, including expired ones. */
  entries: 48,
  /** Pages in use. */
  usedPages: 49,
  /** Entries that were evicted before they expired. */
  evictions: 50,
  /** The page where the next search for pages starts. */
  hand: 51,
});

/** Words of a thread's record. */
export const Record = Object.freeze({
  /** First page of the entry that the thread is writing, plus 1; 0: none. */
  writing: 0,
  /** Doubles: places counted in doubles from the record's beginning. */
  hits: 1,
  misses: 2,
});

/** Words of a slot. */
export const Slot = Object.freeze({
  /** Odd: the slot holds an entry. Each change adds 1, so that readers can check that their copy is consistent. */
  sequence: 0,
  /** High half of the key's hash. */
  high: 1,
  firstPage: 2,
  lastPage: 3,
  pages: 4,
  keyBytes: 5,
  metaBytes: 6,
  bodyBytes: 7,
  /** A double: milliseconds since the epoch. */
  expires: 8,
  /** How often it was used, up to `maxUses`; decremented each time that the clock hand passes. */
  uses: 10,
});

/** Words of a flight. */
export const Flight = Object.freeze({
  /** Odd: active. Waited on; each change adds 1 or 2. */
  generation: 0,
  low: 1,
  high: 2,
  /** Number of the leading thread. */
  leader: 3,
  /** A double: the time until which the leader is trusted, on the clock that all threads share. */
  leaseEnd: 4,
});

/** The offsets of the parts of a store's memory, in 32-bit words, and their sizes. */
export interface Geometry {
  readonly records: number;
  readonly flights: number;
  readonly flightBuckets: number;
  readonly tags: number;
  readonly slots: number;
  readonly slotCount: number;
  readonly next: number;
  readonly owners: number;
  readonly pages: number;
  readonly pageCount: number;
}

/** Throws a RangeError when the memory is too small. */
export function geometryOf(memory: SharedArrayBuffer): Geometry {
  const { byteLength } = memory;
  if (byteLength < minStoreBytes) throw new RangeError(`a store needs ${minStoreBytes} bytes, not ${byteLength}`);
  // One for each 16 KiB; 4,096 at most.
  const flightBuckets = Math.min(512, Math.max(4, Math.floor(byteLength / 16_384 / flightWays)));
  const tags = firstFlight + flightBuckets * flightWays * flightWords;
  const pageCount = Math.floor((byteLength - tags * 4 - 256) / bytesPerPage);
  const slotCount = Math.floor(pageCount / ways) * ways;
  const slots = tags + slotCount;
  const next = slots + slotCount * slotWords;
  const owners = next + pageCount;
  const pages = Math.ceil((owners + pageCount) / 16) * 16;
  return {
    ...{ records: firstRecord, flights: firstFlight, flightBuckets },
    ...{ tags, slots, slotCount, next, owners, pages, pageCount },
  };
}
