import { pageBytes } from './store-layout.ts';
import type { StoreMemory } from './store-memory.ts';

/** Writes and reads along the pages of an entry; consecutive pages are one copy. */
export class PageCursor {
  readonly #memory: StoreMemory;
  /** Last page of the current run, the current byte, and the bytes that are left of the run. */
  #page = -1;
  #at = 0;
  #room = 0;
  /** Pages that may still be entered: a chain that another thread changes meanwhile may contain a cycle. */
  #left = 0;

  constructor(memory: StoreMemory) {
    this.#memory = memory;
  }

  /** Begins at a byte of an entry of so many pages. */
  begin(firstPage: number, pages: number, skip: number): void {
    this.#left = pages;
    this.#page = -1;
    this.#enter(firstPage);
    while (skip > 0 && this.#room > 0) {
      const step = Math.min(skip, this.#room);
      this.#advance(step);
      skip -= step;
    }
  }

  write(source: Uint8Array): void {
    for (let done = 0; done < source.length && this.#room > 0; ) {
      const size = Math.min(this.#room, source.length - done);
      this.#memory.bytes.set(size === source.length ? source : source.subarray(done, done + size), this.#at);
      this.#advance(size);
      done += size;
    }
  }

  /** Fills the target; false: the pages end before. */
  read(target: Buffer): boolean {
    let done = 0;
    while (done < target.length && this.#room > 0) {
      const size = Math.min(this.#room, target.length - done);
      this.#memory.bytes.copy(target, done, this.#at, this.#at + size);
      this.#advance(size);
      done += size;
    }
    return done === target.length;
  }

  #advance(bytes: number): void {
    this.#at += bytes;
    this.#room -= bytes;
    if (this.#room === 0) this.#enter(this.#memory.pageAfter(this.#page));
  }

  /** A run of pages. None left: there is no room. */
  #enter(page: number): void {
    const { pageCount } = this.#memory.geometry;
    if (page < 0 || page >= pageCount || this.#left === 0) return;
    this.#at = this.#memory.pageAt(page);
    let last = page;
    for (this.#left--; this.#left > 0 && last + 1 < pageCount && this.#memory.pageAfter(last) === last + 1; last++) {
      this.#left--;
    }
    this.#page = last;
    this.#room = (last - page + 1) * pageBytes;
  }
}
