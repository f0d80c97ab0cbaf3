import { type Series, SeriesReader } from '../../plugin-kit/shared-memory/index.ts';

/** All memories with one name and number of cells: one, or several if instances do not share theirs. */
export interface SeriesSource {
  readonly readers: readonly SeriesReader[];
  readonly cells: number;
}

/** A reader caches the known series. */
const known = new WeakMap<SharedArrayBuffer, SeriesReader>();

export function openMemory(memory: SharedArrayBuffer, cells: number): SeriesReader {
  const reader = known.get(memory) ?? new SeriesReader(memory, cells);
  known.set(memory, reader);
  return reader;
}

/**
 * The series of one kind (the first label) without that label. The numbers are valid until the next one is requested. Each set of labels
 * occurs once: equal labels in two memories are one series.
 */
export function* seriesOf({ readers, cells }: SeriesSource, kind: string): Generator<Series> {
  const [only] = readers;
  if (readers.length === 1 && only !== undefined) {
    const sums = new Float64Array(cells);
    for (const entry of only.known()) {
      if (entry.labels[0] === kind) yield { labels: entry.labels, cells: only.sum(entry, sums) };
    }
    return;
  }
  const merged = new Map<string, Series>();
  for (const reader of readers) {
    for (const entry of reader.known()) {
      if (entry.labels[0] !== kind) continue;
      const text = JSON.stringify(entry.labels);
      const before = merged.get(text);
      const sums = reader.sum(entry);
      if (before === undefined) merged.set(text, { labels: entry.labels, cells: sums });
      else for (let cell = 0; cell < cells; cell++) before.cells[cell]! += sums[cell]!;
    }
  }
  yield* merged.values();
}

/** The sums of the overflow series. */
export function overflowOf({ readers, cells }: SeriesSource): Float64Array {
  const sums = new Float64Array(cells);
  for (const reader of readers) {
    const more = reader.overflow();
    for (let cell = 0; cell < cells; cell++) sums[cell]! += more[cell]!;
  }
  return sums;
}
