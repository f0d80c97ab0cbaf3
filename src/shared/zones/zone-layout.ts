/*
 * How a zone's memory is laid out. It begins with zeros, which are a table without keys:
 *
 *   header    1 KiB, one bucket's room
 *   bucket    1 KiB: a line of 16 words (the lock, and of each slot the low half of its key's hash, 0: free), then 15 slots
 *   slot      64 bytes, a cache line: the high half of the hash, the tag, seven doubles
 */

/** Slots of a bucket. */
export const ways = 15;
/** 32-bit words of a slot and of a bucket. */
export const slotWords = 16;
export const bucketWords = (ways + 1) * slotWords;
/** Word at which the first bucket begins. */
export const firstBucket = bucketWords;

/** Words of the header. */
export const Header = Object.freeze({
  /** Two words; see zone-seed.ts. */
  seed: 1,
  /** Slots in use, including expired ones. */
  used: 3,
  /** Slots that were taken from a key that had not expired. */
  evictions: 4,
  /** A `Content`. */
  content: 5,
});

/** What the slots of a table mean: which limiter wrote them. `mixed`: several kinds, which cannot be transferred. */
export const Content = Object.freeze({ windows: 1, buckets: 2, circuits: 3, mixed: 255 });

/** Doubles of a slot; `values[slot + Field.x]`. Times are milliseconds since the epoch. */
export const Field = Object.freeze({
  lastUsed: 1,
  /** The slot can be reused from then on; Infinity: never. */
  expiresAt: 2,
  /** Their meaning depends on the limiter. */
  first: 3,
  second: 4,
  third: 5,
  fourth: 6,
});

/**
 * Tags from here on hold the requests in flight of workers: `Field.first` is the sum, and the bytes from `Field.second`
 * on are the counts of `workersPerSlot` workers, 16 bits each. The tag minus this is the number of the first of them,
 * divided by that.
 */
export const firstWorkerTag = 256;
export const workersPerSlot = 12;

/** Tag of the slot with a worker's count. */
export function workerTag(worker: number): number {
  return firstWorkerTag + Math.floor(worker / workersPerSlot);
}

/** Index of a worker's count in a slot, among all 16-bit numbers of the memory. */
export function workerCell(slot: number, worker: number): number {
  return (slot + Field.second) * 4 + (worker % workersPerSlot);
}

export function bucketsIn(memory: SharedArrayBuffer): number {
  return Math.floor(memory.byteLength / 4 / bucketWords) - 1;
}
