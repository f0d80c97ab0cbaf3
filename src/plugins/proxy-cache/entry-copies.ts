import type { StoredEntry } from './answer-store.ts';

/** An entry as this worker has read it. `version` names it in the store. */
export interface EntryCopy {
  readonly version: number;
  readonly entry: StoredEntry;
  /** About what it takes up. */
  readonly bytes: number;
}

/**
 * Entries that this worker has read of late, bounded in bytes. Two generations: when the young one has half of the bytes it
 * becomes the old one, and what is still asked for moves over.
 */
export class EntryCopies {
  readonly #half: number;
  #young = new Map<string, EntryCopy>();
  #old = new Map<string, EntryCopy>();
  #youngBytes = 0;

  constructor(bytes: number) {
    this.#half = bytes / 2;
  }

  get(key: string): EntryCopy | undefined {
    const copy = this.#young.get(key);
    if (copy !== undefined) return copy;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  /** One that would take more than a quarter of the room is not kept. */
  set(key: string, copy: EntryCopy): void {
    this.delete(key);
    if (copy.bytes * 2 > this.#half) return;
    this.#young.set(key, copy);
    this.#youngBytes += copy.bytes;
    if (this.#youngBytes <= this.#half) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }

  delete(key: string): void {
    this.#old.delete(key);
    const copy = this.#young.get(key);
    if (copy === undefined) return;
    this.#young.delete(key);
    this.#youngBytes -= copy.bytes;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngBytes = 0;
  }
}
