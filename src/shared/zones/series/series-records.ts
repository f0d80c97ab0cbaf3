import { chunkHeaderBytes, recordBytes, recordHeaderBytes, type SeriesLayout, textRoom } from './series-layout.ts';

export interface SeriesMemory {
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  readonly layout: SeriesLayout;
}

/**
 * Visits the records of a chunk from the offset `from` on, and returns the offset after the last of them: `from` of the
 * next call. `place`: index of the first cell, in doubles.
 */
export function forEachRecord(
  { words, bytes, layout }: SeriesMemory,
  chunk: number,
  from: number,
  visit: (text: string, place: number, cells: number) => void,
): number {
  const start = layout.chunks + chunk * layout.chunkBytes;
  const used = Atomics.load(words, start >> 2);
  let offset = from;
  while (offset < used) {
    const at = start + chunkHeaderBytes + offset;
    const length = words[at >> 2]!;
    const cells = words[(at >> 2) + 1]!;
    const textAt = at + recordHeaderBytes;
    const text = Buffer.from(bytes.buffer, textAt, length).toString('utf8');
    visit(text, (textAt + textRoom(length)) >> 3, cells);
    offset += recordBytes(length, cells);
  }
  return offset;
}
