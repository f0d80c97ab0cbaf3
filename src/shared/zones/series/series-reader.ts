import { Header, seriesLayout } from './series-layout.ts';
import { forEachRecord, type SeriesMemory } from './series-records.ts';

export interface Series {
  readonly labels: readonly string[];
  readonly cells: Float64Array;
}

export interface SeriesSums {
  readonly series: readonly Series[];
  /** Numbers without a series. */
  readonly overflow: Float64Array;
}

/** A known series, and its cells in each worker. */
export interface SeriesEntry {
  readonly labels: readonly string[];
  /** First cells, one for each worker that has counted it. */
  readonly places: readonly number[];
}

interface OpenEntry extends SeriesEntry {
  readonly places: number[];
}

/**
 * Reads labelled numbers while others add to them. It caches the known series, so that the next read inspects new ones
 * only. Sums are exact: each number is one that it had during the call.
 */
export class SeriesReader {
  readonly #memory: SeriesMemory;
  readonly #values: Float64Array;
  readonly #cells: number;
  readonly #byText = new Map<string, OpenEntry>();
  #entries: SeriesEntry[] = [];
  /** The end of the known records of each chunk. */
  readonly #read = new Map<number, number>();
  #generation = 0;

  constructor(memory: SharedArrayBuffer, cells: number) {
    this.#memory = {
      words: new Int32Array(memory, 0, memory.byteLength >>> 2),
      bytes: new Uint8Array(memory),
      layout: seriesLayout(memory.byteLength, cells),
    };
    this.#values = new Float64Array(memory, 0, memory.byteLength >>> 3);
    this.#cells = cells;
  }

  /** All series that exist now, in the order in which they were found; the list is live and grows. */
  entries(): readonly SeriesEntry[] {
    for (const _ of this.update());
    return this.#entries;
  }

  /** The series that were found so far. */
  known(): readonly SeriesEntry[] {
    return this.#entries;
  }

  /** Searches for new series, one chunk at each step: some dozen microseconds. */
  *update(): Generator<void, readonly SeriesEntry[]> {
    const { words, layout } = this.#memory;
    const generation = Atomics.load(words, Header.generation);
    if (generation !== this.#generation) this.#reset(generation);
    for (let chunk = 0; chunk < layout.chunkCount; chunk++) {
      // Chunks are allocated in order.
      if (Atomics.load(words, layout.owners + chunk) === 0) break;
      const from = this.#read.get(chunk) ?? 0;
      const end = forEachRecord(this.#memory, chunk, from, (text, place, cells) => this.#add(text, place, cells));
      if (end === from) continue;
      this.#read.set(chunk, end);
      yield;
    }
    return this.#entries;
  }

  /** Writes the sums of a series into `into`, and returns it. */
  sum({ places }: SeriesEntry, into: Float64Array = new Float64Array(this.#cells)): Float64Array {
    const values = this.#values;
    const cells = this.#cells;
    const first = places[0] ?? 0;
    for (let cell = 0; cell < cells; cell++) into[cell] = values[first + cell]!;
    for (let at = 1; at < places.length; at++) {
      const place = places[at]!;
      for (let cell = 0; cell < cells; cell++) into[cell]! += values[place + cell]!;
    }
    return into;
  }

  /** Sums of numbers without a series. */
  overflow(): Float64Array {
    const sums = new Float64Array(this.#cells);
    const { words, layout } = this.#memory;
    const { overflow } = layout;
    const rows = Atomics.load(words, Header.writers);
    for (let at = 0; at < rows * this.#cells; at++) sums[at % this.#cells]! += this.#values[overflow + at]!;
    return sums;
  }

  #add(text: string, place: number, cells: number): void {
    if (cells !== this.#cells) return;
    const entry = this.#byText.get(text);
    if (entry !== undefined) {
      entry.places.push(place);
      return;
    }
    const created: OpenEntry = { labels: JSON.parse(text) as string[], places: [place] };
    this.#byText.set(text, created);
    this.#entries.push(created);
  }

  #reset(generation: number): void {
    this.#generation = generation;
    this.#byText.clear();
    this.#read.clear();
    this.#entries = [];
  }
}

/** Sums of all workers. */
export function readSeries(memory: SharedArrayBuffer, cells: number): SeriesSums {
  const reader = new SeriesReader(memory, cells);
  const series = reader.entries().map((entry) => ({ labels: entry.labels, cells: reader.sum(entry) }));
  return { series, overflow: reader.overflow() };
}
