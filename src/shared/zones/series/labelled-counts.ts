/*
 * Counts with labels, in shared memory. It begins with zeros, which are a table without entries:
 *
 *   header   one slot's room; its count is that of everything that found no place
 *   slot     192 bytes: state, hash of the labels, count (low and high half), second of the last count, length of the text; then the text
 *
 * A slot that was taken stays with its labels, so that readers and counters need no lock.
 */

const slotBytes = 192;
const slotWords = slotBytes / 4;
const textAt = 24;
const textBytes = slotBytes - textAt;
/** Maximum slots that are probed for labels, from the one of their hash on. */
const maxProbes = 64;

const Word = Object.freeze({ state: 0, hash: 1, low: 2, high: 3, lastSeen: 4, length: 5 });
/** States in addition to the negative ones: minus the worker's number, minus one, while that worker writes the text. */
const free = 0;
const taken = 1;

/** Milliseconds to wait for the text of another worker. */
const writeTimeout = 20;
const separator = '\0';

export interface LabelledCount {
  readonly labels: readonly string[];
  readonly count: number;
  /** Seconds since the epoch. */
  readonly lastSeen: number;
}

export interface LabelledCountsContent {
  readonly entries: readonly LabelledCount[];
  /** Counts of labels without a slot. */
  readonly other: LabelledCount;
}

/** Size of the memory for so many entries. */
export function labelledCountsBytes(entries: number): number {
  return Math.max(4096, (entries + 1) * slotBytes);
}

/** Adds to counts that all workers of a node share. Exact: no count is lost, whatever other threads do. */
export class LabelledCounter {
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #slots: number;
  readonly #writing: number;
  /** Slots by the text of the labels. */
  readonly #known = new Map<string, number>();

  /** `worker`: the number of this thread among those that share the memory, from 0. */
  constructor(memory: SharedArrayBuffer, worker: number) {
    this.#words = new Int32Array(memory);
    this.#bytes = new Uint8Array(memory);
    this.#slots = slotsIn(memory);
    this.#writing = -worker - 1;
  }

  /** `now`: seconds since the epoch. Labels of more than 168 bytes together are counted among the others. */
  add(labels: readonly string[], now: number): void {
    const text = labels.join(separator);
    let slot = this.#known.get(text);
    if (slot === undefined) {
      slot = this.#place(text);
      // A slot may be found later, when another worker's text is complete; a full table stays full.
      if (slot !== 0) this.#known.set(text, slot);
    }
    const at = slot * slotWords;
    // The low half is read as unsigned.
    if (Atomics.add(this.#words, at + Word.low, 1) === -1) Atomics.add(this.#words, at + Word.high, 1);
    Atomics.store(this.#words, at + Word.lastSeen, now | 0);
  }

  /** The slot of the labels, a new one if needed; 0: there is no room. */
  #place(text: string): number {
    const bytes = Buffer.from(text);
    if (bytes.byteLength > textBytes) return 0;
    const hash = hashOf(bytes);
    for (let step = 0; step < Math.min(maxProbes, this.#slots); step++) {
      const slot = 1 + (((hash >>> 0) + step) % this.#slots);
      const at = slot * slotWords;
      let state = Atomics.load(this.#words, at + Word.state);
      if (state === free) {
        state = Atomics.compareExchange(this.#words, at + Word.state, free, this.#writing);
        if (state === free) {
          this.#write(at, hash, bytes);
          return slot;
        }
      }
      // It could have the same labels.
      if (state < 0) Atomics.wait(this.#words, at + Word.state, state, writeTimeout);
      if (Atomics.load(this.#words, at + Word.state) === taken && this.#holds(at, hash, bytes)) return slot;
    }
    return 0;
  }

  #write(at: number, hash: number, text: Buffer): void {
    this.#words[at + Word.hash] = hash;
    this.#words[at + Word.length] = text.byteLength;
    this.#bytes.set(text, at * 4 + textAt);
    Atomics.store(this.#words, at + Word.state, taken);
    Atomics.notify(this.#words, at + Word.state);
  }

  #holds(at: number, hash: number, text: Buffer): boolean {
    if (this.#words[at + Word.hash] !== hash || this.#words[at + Word.length] !== text.byteLength) return false;
    const start = at * 4 + textAt;
    return text.equals(this.#bytes.subarray(start, start + text.byteLength));
  }
}

/** All counts; other threads may count at the same time. Entries with the same labels are merged. */
export function readLabelledCounts(memory: SharedArrayBuffer): LabelledCountsContent {
  const words = new Int32Array(memory);
  const bytes = Buffer.from(memory);
  const entries = new Map<string, LabelledCount>();
  for (let slot = 1; slot <= slotsIn(memory); slot++) {
    const at = slot * slotWords;
    if (Atomics.load(words, at + Word.state) !== taken) continue;
    const start = at * 4 + textAt;
    const text = bytes.toString('utf8', start, start + (words[at + Word.length] ?? 0));
    const entry = countAt(words, at, text.split(separator));
    const same = entries.get(text);
    entries.set(text, same === undefined ? entry : sum(same, entry));
  }
  return { entries: [...entries.values()], other: countAt(words, 0, []) };
}

export interface LabelledCountsStats {
  readonly bytes: number;
  readonly slots: number;
  readonly used: number;
}

export function labelledCountsStats(memory: SharedArrayBuffer): LabelledCountsStats {
  const words = new Int32Array(memory);
  const slots = slotsIn(memory);
  let used = 0;
  for (let slot = 1; slot <= slots; slot++) if (Atomics.load(words, slot * slotWords) !== free) used++;
  return { bytes: memory.byteLength, slots, used };
}

/** A worker has ended: a slot that it was writing to is free again. Call this before its successor starts. */
export function recoverLabelledCounts(memory: SharedArrayBuffer, worker: number): void {
  const words = new Int32Array(memory);
  for (let slot = 1; slot <= slotsIn(memory); slot++) {
    Atomics.compareExchange(words, slot * slotWords + Word.state, -worker - 1, free);
  }
}

function countAt(words: Int32Array, at: number, labels: readonly string[]): LabelledCount {
  // Read again when the low half has overflowed in between.
  let high = 0;
  let low = 0;
  do {
    high = Atomics.load(words, at + Word.high);
    low = Atomics.load(words, at + Word.low) >>> 0;
  } while (high !== Atomics.load(words, at + Word.high));
  return { labels, count: high * 2 ** 32 + low, lastSeen: Atomics.load(words, at + Word.lastSeen) >>> 0 };
}

function sum(one: LabelledCount, other: LabelledCount): LabelledCount {
  return {
    labels: one.labels,
    count: one.count + other.count,
    lastSeen: Math.max(one.lastSeen, other.lastSeen),
  };
}

function slotsIn(memory: SharedArrayBuffer): number {
  return Math.floor(memory.byteLength / slotBytes) - 1;
}

/** FNV-1a over 32 bits. Labels are names from the configuration; clients do not choose them. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash | 0;
}
