/*
 * How the memory of labelled numbers is laid out. It begins with zeros, which are a memory without series:
 *
 *   header    64 bytes
 *   overflow  the numbers of what found no place, one row for each worker
 *   owners    one word for each chunk: the number of its worker, plus one; 0: free
 *   chunks    how much of it is used (one line of 64 bytes), then one record behind the other
 *   record    length of the text and number of cells (words), the labels as JSON, filled up to whole doubles; then the cells
 *
 * A chunk belongs to one worker for good, so that only its owner is taken atomically. A record counts once the chunk says that it is
 * used; a worker that ends before has left nothing, and its successor, of the same number, goes on where the chunk ends.
 */

/** Maximum workers of a memory: as many as a node has. */
export const maxWriters = 1024;

/** Words of the header. */
export const Header = Object.freeze({
  /** How often the memory was cleared. */
  generation: 0,
  /** Cells of a series, as the writers declare; 0: there was no writer yet. */
  cells: 1,
  /** Records in all chunks. */
  records: 2,
  /** Chunks that have an owner. */
  owned: 3,
  /** Rows of the overflow that may be in use. */
  writers: 4,
});

const headerBytes = 64;
/** Bytes of a chunk before its first record. */
export const chunkHeaderBytes = 64;
/** Bytes of a record before its text. */
export const recordHeaderBytes = 8;
/** Maximum bytes of the labels of a series, as JSON. */
export const maxTextBytes = 2048;
/** Bytes of the text of a typical series; only the size of the memory is estimated with it. */
const defaultTextBytes = 120;
const minChunkBytes = 16_384;

export interface SeriesLayout {
  /** Index of the first double of the overflow rows. */
  readonly overflow: number;
  /** Index of the first word of the owners. */
  readonly owners: number;
  /** Offset of the first chunk, in bytes. */
  readonly chunks: number;
  readonly chunkBytes: number;
  readonly chunkCount: number;
}

export function seriesLayout(bytes: number, cells: number): SeriesLayout {
  const chunkBytes = chunkBytesFor(cells);
  const owners = headerBytes + maxWriters * cells * 8;
  const chunkCount = Math.max(0, Math.floor((bytes - owners - headerBytes) / (chunkBytes + 4)));
  return {
    overflow: headerBytes >> 3,
    owners: owners >> 2,
    chunks: Math.ceil((owners + chunkCount * 4) / headerBytes) * headerBytes,
    chunkBytes,
    chunkCount,
  };
}

/** Size of a memory in which one worker has room for so many series with labels of typical length. */
export function seriesBytes(entries: number, cells: number): number {
  return headerBytes * 2 + maxWriters * cells * 8 + seriesShare(entries, cells);
}

/** Bytes that each further worker needs. */
export function seriesShare(entries: number, cells: number): number {
  const chunkBytes = chunkBytesFor(cells);
  const perChunk = Math.floor((chunkBytes - chunkHeaderBytes) / recordBytes(defaultTextBytes, cells));
  return (Math.ceil(entries / perChunk) + 1) * (chunkBytes + 4);
}

export function recordBytes(textBytes: number, cells: number): number {
  return recordHeaderBytes + textRoom(textBytes) + cells * 8;
}

/** Bytes that a text takes: whole doubles. */
export function textRoom(textBytes: number): number {
  return (textBytes + 7) & ~7;
}

/** A chunk holds at least eight records of many cells, so that little of it is wasted. */
function chunkBytesFor(cells: number): number {
  let bytes = minChunkBytes;
  while (bytes < 8 * recordBytes(defaultTextBytes, cells)) bytes *= 2;
  return bytes;
}
