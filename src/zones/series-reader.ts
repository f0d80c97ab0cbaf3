import { Header, seriesLayout } from './series-layout.ts';
import { type SeriesMemory, walkRecords } from './series-records.ts';

export interface Series {
  readonly labels: readonly string[];
  readonly cells: Float64Array;
}

export interface SeriesSums {
  readonly series: readonly Series[];
  /** What found no place. */
  readonly overflow: Float64Array;
}

/** A series that is known: where each worker counts it. */
export interface SeriesEntry {
  readonly labels: readonly string[];
  /** First cells, one for each worker that has counted it. */
  readonly places: readonly number[];
}

interface OpenEntry extends SeriesEntry {
  readonly places: number[];
}

/**
 * Reads labelled numbers while others add to them. It remembers which series there are, so that reading again looks at new ones
 * only. Sums are exact: of each number some value that it had during the call.
 */
export class SeriesReader {
  readonly #memory: SeriesMemory;
  readonly #values: Float64Array;
  readonly #cells: number;
  readonly #byText = new Map<string, OpenEntry>();
  #entries: SeriesEntry[] = [];
  /** Up to where the records of each chunk are known. */
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

  /** All series that there are now, in the order in which they were found; the list lives on and grows. */
  entries(): readonly SeriesEntry[] {
    for (const _ of this.update());
    return this.#entries;
  }

  /** The series that were found so far. */
  known(): readonly SeriesEntry[] {
    return this.#entries;
  }

  /** Looks for new series, a chunk at each step: some dozen microseconds. */
  *update(): Generator<void, readonly SeriesEntry[]> {
    const { words, layout } = this.#memory;
    const generation = Atomics.load(words, Header.generation);
    if (generation !== this.#generation) this.#forget(generation);
    for (let chunk = 0; chunk < layout.chunkCount; chunk++) {
      // Chunks are taken in their order.
      if (Atomics.load(words, layout.owners + chunk) === 0) break;
      const from = this.#read.get(chunk) ?? 0;
      const end = walkRecords(this.#memory, chunk, from, (text, place, cells) => this.#add(text, place, cells));
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

  /** Sums of what found no place. */
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
    const made: OpenEntry = { labels: JSON.parse(text) as string[], places: [place] };
    this.#byText.set(text, made);
    this.#entries.push(made);
  }

  #forget(generation: number): void {
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
