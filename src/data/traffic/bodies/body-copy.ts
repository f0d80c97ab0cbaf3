import { ByteCollector } from '../../../shared/util/bytes/byte-collector.ts';

/** Memory that copies of bodies share. */
export class CopyMemory {
  readonly #max: number;
  #used = 0;

  /** `max`: bytes. */
  constructor(max: number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  reserve(bytes: number): boolean {
    if (this.#used + bytes > this.#max) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** A copy of the beginning of a body that passes by. */
export class BodyCopy {
  /** Bytes of the whole body so far. */
  bytes = 0;
  /** The body has ended as its sender meant it to. */
  complete = false;
  /** There was no memory for it, or it is no longer wanted: further bytes are only counted. */
  lost = false;
  readonly #limit: number;
  readonly #memory: CopyMemory;
  readonly #kept = new ByteCollector();
  #reserved = 0;

  /** `limit`: bytes that are copied. */
  constructor(limit: number, memory: CopyMemory) {
    this.#limit = limit;
    this.#memory = memory;
  }

  /** More bytes were sent than are kept. */
  get isCut(): boolean {
    return !this.complete || this.bytes > this.#limit;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.bytes += end - start;
    const room = this.#limit - this.#kept.size;
    if (room <= 0 || this.lost) return;
    const taken = Math.min(room, end - start);
    const growth = this.#kept.growth(taken);
    if (growth > 0 && !this.#memory.reserve(growth)) {
      this.release();
      return;
    }
    this.#reserved += growth;
    this.#kept.push(bytes, start, start + taken);
  }

  /** What was copied; its memory stays reserved until `release`. */
  take(): Buffer {
    return this.#kept.take();
  }

  /** Gives the copy up, and its memory. */
  release(): void {
    this.lost = true;
    this.#kept.clear();
    this.#memory.release(this.#reserved);
    this.#reserved = 0;
  }
}
