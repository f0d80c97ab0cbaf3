import {
  chunkHeaderBytes,
  Header,
  maxTextBytes,
  recordBytes,
  recordHeaderBytes,
  type SeriesLayout,
  seriesLayout,
  textRoom,
} from './series-layout.ts';
import { forEachRecord } from './series-records.ts';

/**
 * Labelled numbers that one worker adds to. It writes only to its own memory, so an addition is not atomic, and exact:
 * `writer.values[place + cell] += n`. Several writers of one thread (of several plugin instances) may share a memory.
 */
export class SeriesWriter {
  readonly values: Float64Array;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #layout: SeriesLayout;
  readonly worker: number;
  readonly cells: number;
  /** First cells by the text of the labels. */
  readonly #known = new Map<string, number>();
  /** The chunk that was allocated last, and the end of its known records; -1: none was allocated. */
  #current = -1;
  #used = 0;
  #full = false;

  /** `worker`: the number of this thread among those that share the memory, from 0 to 1023. `cells`: numbers of each series. */
  constructor(memory: SharedArrayBuffer, worker: number, cells: number) {
    this.values = new Float64Array(memory, 0, memory.byteLength >>> 3);
    this.#words = new Int32Array(memory, 0, memory.byteLength >>> 2);
    this.#bytes = new Uint8Array(memory);
    this.#layout = seriesLayout(memory.byteLength, cells);
    this.worker = worker;
    this.cells = cells;
    this.#register();
  }

  /**
   * First cell of the series of these labels; allocated when it is new. When there is no room, and for labels of more
   * than 2 KiB, that of the overflow, whose labels are `[]`. Costs about a microsecond: cache the result.
   */
  place(labels: readonly string[]): number {
    if (labels.length === 0) return this.#overflow;
    const text = JSON.stringify(labels);
    return this.#known.get(text) ?? this.#search(text);
  }

  /** The results of `place` are not valid any more: the memory was cleared. */
  reset(): void {
    this.#known.clear();
    this.#current = -1;
    this.#used = 0;
    this.#full = false;
    this.#register();
  }

  #register(): void {
    Atomics.store(this.#words, Header.cells, this.cells);
    const writers = this.worker + 1;
    let known = Atomics.load(this.#words, Header.writers);
    while (known < writers) known = Atomics.compareExchange(this.#words, Header.writers, known, writers);
  }

  get #overflow(): number {
    return this.#layout.overflow + this.worker * this.cells;
  }

  /** Adds the records that another writer of this thread, or the thread before, has written meanwhile. */
  #search(text: string): number {
    if (this.#full) return this.#overflow;
    this.#catchUp();
    return this.#known.get(text) ?? this.#make(Buffer.from(text), text);
  }

  /**
   * Chunks are allocated in order: after the first free one there are no others. All writers of a thread write to the
   * last one that it has allocated.
   */
  #catchUp(): void {
    const { owners, chunkCount } = this.#layout;
    for (let chunk = Math.max(0, this.#current); chunk < chunkCount; chunk++) {
      const owner = Atomics.load(this.#words, owners + chunk);
      if (owner === 0) return;
      if (owner === this.worker + 1) this.#learn(chunk, chunk === this.#current ? this.#used : 0);
    }
  }

  #learn(chunk: number, from: number): void {
    const memory = { words: this.#words, bytes: this.#bytes, layout: this.#layout };
    this.#used = forEachRecord(memory, chunk, from, (text, place, cells) => {
      if (cells === this.cells) this.#known.set(text, place);
    });
    this.#current = chunk;
  }

  #make(text: Buffer, key: string): number {
    const size = recordBytes(text.byteLength, this.cells);
    if (text.byteLength > maxTextBytes) return this.#overflow;
    const chunk = this.#chunkWith(size);
    if (chunk < 0) {
      this.#full = true;
      return this.#overflow;
    }
    const start = this.#layout.chunks + chunk * this.#layout.chunkBytes;
    const at = start + chunkHeaderBytes + this.#used;
    const place = (at + recordHeaderBytes + textRoom(text.byteLength)) >> 3;
    this.#words[at >> 2] = text.byteLength;
    this.#words[(at >> 2) + 1] = this.cells;
    this.#bytes.set(text, at + recordHeaderBytes);
    this.values.fill(0, place, place + this.cells);
    this.#used += size;
    Atomics.store(this.#words, start >> 2, this.#used);
    Atomics.add(this.#words, Header.records, 1);
    this.#known.set(key, place);
    return place;
  }

  /** An own chunk with so many bytes left, allocated if needed; -1: there is none. */
  #chunkWith(size: number): number {
    const { owners, chunkBytes, chunkCount } = this.#layout;
    if (this.#current >= 0 && chunkHeaderBytes + this.#used + size <= chunkBytes) return this.#current;
    for (let chunk = this.#current + 1; chunk < chunkCount; chunk++) {
      if (Atomics.compareExchange(this.#words, owners + chunk, 0, this.worker + 1) !== 0) continue;
      Atomics.add(this.#words, Header.owned, 1);
      this.#current = chunk;
      this.#used = 0;
      return chunk;
    }
    return -1;
  }
}

/** Clears the memory. Only while no writer writes; each must call `reset` before it continues. */
export function clearSeries(memory: SharedArrayBuffer): void {
  const words = new Int32Array(memory, 0, memory.byteLength >>> 2);
  const cells = Atomics.load(words, Header.cells);
  if (cells === 0) return;
  const layout = seriesLayout(memory.byteLength, cells);
  const rows = Atomics.load(words, Header.writers) * cells;
  new Float64Array(memory, 0, memory.byteLength >>> 3).fill(0, layout.overflow, layout.overflow + rows);
  for (let chunk = 0; chunk < layout.chunkCount; chunk++) {
    if (Atomics.exchange(words, layout.owners + chunk, 0) === 0) continue;
    Atomics.store(words, (layout.chunks + chunk * layout.chunkBytes) >> 2, 0);
  }
  Atomics.store(words, Header.records, 0);
  Atomics.store(words, Header.owned, 0);
  Atomics.add(words, Header.generation, 1);
}

export interface SeriesStats {
  /** Size of the zone, including its own overhead. */
  readonly bytes: number;
  /** Bytes for series, and those of them that workers have allocated, in chunks. */
  readonly capacity: number;
  readonly taken: number;
  /** Series in use, counted once for each worker that has counted them. */
  readonly used: number;
}

export function seriesStats(memory: SharedArrayBuffer): SeriesStats {
  const words = new Int32Array(memory, 0, memory.byteLength >>> 2);
  const { chunkBytes, chunkCount } = seriesLayout(memory.byteLength, Atomics.load(words, Header.cells));
  return {
    bytes: memory.byteLength,
    capacity: chunkCount * chunkBytes,
    taken: Atomics.load(words, Header.owned) * chunkBytes,
    used: Atomics.load(words, Header.records),
  };
}
