import * as layout from './zone-layout.ts';
import { zoneSeed } from './zone-seed.ts';

/**
 * Version of what is transferred: the layout of zones and the meaning of their fields. Increase it when either changes;
 * a process of another version starts with empty counters.
 */
export const zoneFormat = 1;

/** Doubles of one transferred slot. */
const record = Object.freeze({
  bucket: 0,
  low: 1,
  high: 2,
  tag: 3,
  lastUsed: 4,
  expiresAt: 5,
  /** The values as they are, four of them. */
  first: 6,
  /** What was added to counters since the last transfer. */
  added: 10,
  size: 13,
});

/** What has changed in a table since the last transfer. */
export interface ZoneChange {
  /** Two words; the same keys have the same hashes on both sides. */
  readonly seed: readonly [number, number];
  readonly content: number;
  /** `record`s. */
  readonly slots: Float64Array;
}

/** The holder of a lock that is no worker. */
const owner = 0x40000000;
/** Milliseconds to wait for the lock of a worker, which may have been preempted while it held it. */
const lockTimeout = 100;

const { Field, Header, Content } = layout;
/** The transferred doubles of a slot begin here, in its order: last use, expiry, four values. */
const copied = 6;

/**
 * One side of a table that two processes keep for a while, both counting: each sends the other what it added. Keys are
 * the same hashes on both sides, so the bucket of a key is, too. Requests in flight are not transferred: they end where
 * they began.
 */
export class ZoneTransfer {
  readonly #words: Int32Array;
  readonly #values: Float64Array;
  readonly #buckets: number;
  /** What the other side knows, slot by slot, in the layout of the zone. */
  readonly #knownWords: Int32Array;
  readonly #known: Float64Array;
  #begun = false;

  constructor(memory: SharedArrayBuffer) {
    const bytes = Math.floor(memory.byteLength / 8) * 8;
    this.#words = new Int32Array(memory, 0, bytes / 4);
    this.#values = new Float64Array(memory, 0, bytes / 8);
    this.#buckets = layout.bucketsIn(memory);
    const known = new ArrayBuffer(bytes);
    this.#knownWords = new Int32Array(known);
    this.#known = new Float64Array(known);
  }

  /** Everything the first time, the seed of an empty table too; then what has changed since. Null: nothing. */
  changes(): ZoneChange | null {
    const words = this.#words;
    const content = Atomics.load(words, Header.content);
    const found: number[] = [];
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      const lock = layout.firstBucket + bucket * layout.bucketWords;
      let used = false;
      for (let way = 1; way <= layout.ways && !used; way++) used = words[lock + way] !== 0;
      if (!used || !this.#lock(lock)) continue;
      for (let way = 1; way <= layout.ways; way++) this.#collect(bucket, lock, way, content, found);
      this.#unlock(lock);
    }
    if (found.length === 0 && this.#begun) return null;
    this.#begun = true;
    return { seed: zoneSeed(words), content, slots: Float64Array.from(found) };
  }

  /**
   * The first transfer, into a table that nothing has used yet. False: the change does not fit this table, which then
   * stays empty.
   */
  restore(change: ZoneChange): boolean {
    if (!this.#isPossible(change) || change.content === Content.mixed) return false;
    const words = this.#words;
    words[Header.seed] = change.seed[0];
    words[Header.seed + 1] = change.seed[1];
    words[Header.content] = change.content;
    this.#begun = true;
    this.#apply(change);
    return true;
  }

  /** Adds what the other side has counted. False: the change does not fit this table, and nothing was added. */
  merge(change: ZoneChange): boolean {
    const words = this.#words;
    const fits =
      this.#isPossible(change) &&
      this.#sameContent(change.content) &&
      change.content !== Content.mixed &&
      change.seed[0] === words[Header.seed] &&
      change.seed[1] === words[Header.seed + 1];
    if (fits) this.#apply(change);
    return fits;
  }

  /** A table that no limiter has used yet takes any content. */
  #sameContent(content: number): boolean {
    const own = this.#words[Header.content];
    return own === content || own === 0;
  }

  #collect(bucket: number, lock: number, way: number, content: number, found: number[]): void {
    const words = this.#words;
    const low = words[lock + way]!;
    const slot = lock + way * layout.slotWords;
    const tag = words[slot + 1]!;
    if (low === 0 || tag <= 0 || tag >= layout.firstWorkerTag) return;
    const at = slot >> 1;
    const values = this.#values;
    const known = this.#known;
    const same =
      this.#knownWords[lock + way] === low &&
      this.#knownWords[slot] === words[slot] &&
      this.#knownWords[slot + 1] === tag;
    let changed = !same;
    for (let field = 1; field <= copied && !changed; field++) changed = known[at + field] !== values[at + field];
    if (!changed) return;
    const added = addedTo(content, tag, values, same ? known : null, at);
    found.push(bucket, low, words[slot]!, tag);
    for (let field = 1; field <= copied; field++) found.push(values[at + field]!);
    found.push(...added);
    this.#note(lock, way);
  }

  #apply({ content, slots }: ZoneChange): void {
    for (let from = 0; from < slots.length; from += record.size) {
      const lock = layout.firstBucket + slots[from + record.bucket]! * layout.bucketWords;
      if (!this.#lock(lock)) continue;
      const way = this.#wayOf(lock, slots, from);
      if (way > 0) this.#add(content, lock, way, slots, from);
      else this.#copy(lock, slots, from);
      this.#unlock(lock);
    }
  }

  #wayOf(lock: number, slots: Float64Array, from: number): number {
    const words = this.#words;
    for (let way = 1; way <= layout.ways; way++) {
      if (words[lock + way] !== slots[from + record.low]) continue;
      const slot = lock + way * layout.slotWords;
      if (words[slot] === slots[from + record.high] && words[slot + 1] === slots[from + record.tag]) return way;
    }
    return 0;
  }

  /** Copies a slot that this side does not have, into a free one or one that has expired. A full bucket keeps its own. */
  #copy(lock: number, slots: Float64Array, from: number): void {
    const words = this.#words;
    const now = slots[from + record.lastUsed]!;
    for (let way = 1; way <= layout.ways; way++) {
      const slot = lock + way * layout.slotWords;
      const low = words[lock + way]!;
      if (low !== 0 && !(this.#values[(slot >> 1) + Field.expiresAt]! <= now)) continue;
      if (low === 0) Atomics.add(words, Header.used, 1);
      words[slot] = slots[from + record.high]!;
      words[slot + 1] = slots[from + record.tag]!;
      this.#replace(slot >> 1, slots, from);
      this.#values[(slot >> 1) + copied + 1] = 0;
      words[lock + way] = slots[from + record.low]!;
      this.#note(lock, way);
      return;
    }
  }

  #replace(at: number, slots: Float64Array, from: number): void {
    for (let field = 1; field <= copied; field++) this.#values[at + field] = slots[from + record.tag + field]!;
  }

  /** Both sides have the slot. What is added here is known to the other side, and is not sent back. */
  #add(content: number, lock: number, way: number, slots: Float64Array, from: number): void {
    const slot = lock + way * layout.slotWords;
    const at = slot >> 1;
    const values = this.#values;
    const first = slots[from + record.first]!;
    const tag = slots[from + record.tag]!;
    const adds = addend(content, tag);
    if (adds === null) {
      // The later change of a circuit's state wins.
      if (content === Content.circuits && tag === 1 && slots[from + record.first + 1]! > values[at + Field.second]!) {
        this.#replace(at, slots, from);
        this.#note(lock, way);
      }
      return;
    }
    const numbered = content !== Content.buckets;
    if (numbered && first > values[at + Field.first]!) {
      this.#replace(at, slots, from);
      this.#note(lock, way);
      return;
    }
    const inPrevious = numbered && first < values[at + Field.first]!;
    // Late counts of the previous window, where it still matters.
    const targets = !inPrevious
      ? adds
      : content === Content.windows && values[at + Field.third]! > 0
        ? [Field.third]
        : [];
    const known = this.#isKnown(lock, way);
    for (const [index, field] of targets.entries()) {
      const by = slots[from + record.added + index]!;
      values[at + field]! += by;
      if (known) this.#known[at + field]! += by;
    }
    for (const [field, value] of [
      [Field.lastUsed, slots[from + record.lastUsed]!],
      [Field.expiresAt, slots[from + record.expiresAt]!],
    ] as const) {
      values[at + field] = Math.max(values[at + field]!, value);
    }
  }

  #isKnown(lock: number, way: number): boolean {
    const slot = lock + way * layout.slotWords;
    const [words, known] = [this.#words, this.#knownWords];
    return (
      known[lock + way] === words[lock + way] && known[slot] === words[slot] && known[slot + 1] === words[slot + 1]
    );
  }

  /** The other side knows the slot as it is now. */
  #note(lock: number, way: number): void {
    const slot = lock + way * layout.slotWords;
    this.#knownWords[lock + way] = this.#words[lock + way]!;
    for (let word = 0; word < layout.slotWords; word++) this.#knownWords[slot + word] = this.#words[slot + word]!;
  }

  /** Checks what another process has sent. */
  #isPossible({ slots, seed, content }: ZoneChange): boolean {
    if (slots.length % record.size !== 0 || !seed.every(Number.isInteger) || !Number.isInteger(content)) return false;
    for (let from = 0; from < slots.length; from += record.size) {
      const [bucket, low, high, tag] = slots.subarray(from, from + 4) as unknown as [number, number, number, number];
      if (!Number.isInteger(bucket) || bucket < 0 || bucket >= this.#buckets) return false;
      if (!isWord(low) || low === 0 || !isWord(high) || !isWord(tag)) return false;
      if (tag <= 0 || tag >= layout.firstWorkerTag) return false;
      for (let field = record.lastUsed; field < record.size; field++) {
        if (Number.isNaN(slots[from + field])) return false;
      }
    }
    return true;
  }

  #lock(lock: number): boolean {
    const words = this.#words;
    const deadline = performance.now() + lockTimeout;
    for (;;) {
      const holder = Atomics.compareExchange(words, lock, 0, owner);
      if (holder === 0) return true;
      if (performance.now() > deadline) return false;
      Atomics.wait(words, lock, holder, 1);
    }
  }

  #unlock(lock: number): void {
    Atomics.store(this.#words, lock, 0);
  }
}

function isWord(value: number): boolean {
  return (value | 0) === value;
}

/** The fields that count, for slots with this tag; null: they are states, which are not added. */
function addend(content: number, tag: number): readonly number[] | null {
  if (content === Content.windows) return [Field.second];
  if (content === Content.buckets) return [Field.first, Field.third];
  // The two windows of a circuit.
  return tag === 3 || tag === 4 ? [Field.second, Field.third, Field.fourth] : null;
}

/** What was counted since the last transfer; all of it in a new window, or when there was none. */
function addedTo(
  content: number,
  tag: number,
  values: Float64Array,
  known: Float64Array | null,
  at: number,
): [number, number, number] {
  if (content === Content.buckets) {
    const admitted = values[at + Field.third]! - (known === null ? 0 : known[at + Field.third]!);
    return [admitted, admitted, 0];
  }
  const before = known !== null && known[at + Field.first] === values[at + Field.first] ? known : null;
  const since = (field: number): number => values[at + field]! - (before === null ? 0 : before[at + field]!);
  // What other nodes have counted arrives at both sides.
  if (content === Content.windows) return [since(Field.second) - since(Field.fourth), 0, 0];
  return tag === 3 || tag === 4 ? [since(Field.second), since(Field.third), since(Field.fourth)] : [0, 0, 0];
}
