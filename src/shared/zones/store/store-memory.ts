import { type Geometry, geometryOf, pageBytes, recordWords, Slot, slotWords } from './store-layout.ts';

/** The control plane, which shares the memory with the workers. */
export const controlPlane = -1;

/** The number of a thread in locks and flights; 0 is none. */
export function threadNumber(worker: number): number {
  return worker + 2;
}

/** A store's memory as its parts use it: as words, doubles and bytes. */
export class StoreMemory {
  readonly words: Int32Array;
  readonly doubles: Float64Array;
  readonly bytes: Buffer;
  readonly geometry: Geometry;

  constructor(memory: SharedArrayBuffer) {
    this.geometry = geometryOf(memory);
    this.words = new Int32Array(memory, 0, Math.floor(memory.byteLength / 4));
    this.doubles = new Float64Array(memory, 0, Math.floor(memory.byteLength / 8));
    this.bytes = Buffer.from(memory);
  }

  /** Word at which a slot begins. */
  slotAt(slot: number): number {
    return this.geometry.slots + slot * slotWords;
  }

  recordAt(thread: number): number {
    return this.geometry.records + (thread - 1) * recordWords;
  }

  /** Byte at which a page begins. */
  pageAt(page: number): number {
    return this.geometry.pages * 4 + page * pageBytes;
  }

  /** The page after this one in its entry, -1: none. */
  pageAfter(page: number): number {
    return this.words[this.geometry.next + page]! - 1;
  }

  expiresAt(at: number): number {
    return this.doubles[(at + Slot.expires) >> 1]!;
  }
}
