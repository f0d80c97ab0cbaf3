import { Header, pageBytes, Record, Slot } from './store-layout.ts';
import type { StoreMemory } from './store-memory.ts';

/**
 * Maximum entries that the hand skips while it searches for pages: because free ones are elsewhere, or because they
 * were used.
 */
const maxSkips = 4096;
const maxSpared = 1024;
/** Minimum share of free pages to search for them elsewhere: below it the search costs too much. */
const minFreeShare = 16;

/** Owner of pages that are being written. */
const writing = -1;

/**
 * Allocates and frees pages with the clock algorithm. The hand takes free pages, and those of entries that were not
 * used recently (each use is worth a round, up to three), so that the pages of an entry are mostly consecutive. For the
 * thread that has the lock.
 */
export class StoreSpace {
  readonly #memory: StoreMemory;
  /** The pages that were allocated last: the first and the last page. */
  first = -1;
  last = -1;

  constructor(memory: StoreMemory) {
    this.#memory = memory;
  }

  /** Begins with no pages. */
  begin(): void {
    this.first = -1;
    this.last = -1;
  }

  /** Allocates more pages for what this thread writes; false: entries that are being written use all the rest. */
  take(count: number, thread: number, now: number): boolean {
    const { words, geometry } = this.#memory;
    const { owners, pageCount } = geometry;
    let page = words[Header.hand]! % pageCount;
    let passed = 0;
    let spared = 0;
    let missing = count;
    for (let steps = 0; missing > 0 && steps < pageCount * 3; steps++) {
      if (page >= pageCount) page = 0;
      const owner = words[owners + page]!;
      if (owner === 0) {
        this.#append(page, thread);
        missing--;
        page++;
        continue;
      }
      const at = this.#memory.slotAt(owner - 1);
      // An entry is evaluated at its first page.
      if (owner === writing || words[at + Slot.firstPage] !== page) {
        page++;
        continue;
      }
      const alive = (Atomics.load(words, at) & 1) === 1 && this.#memory.expiresAt(at) > now;
      if (alive && passed < maxSkips && this.#hasFree(missing)) {
        passed++;
        page += this.#adjoining(at);
      } else if (alive && words[at + Slot.uses]! > 0 && spared < maxSpared) {
        spared++;
        words[at + Slot.uses]!--;
        page += this.#adjoining(at);
      } else {
        if (alive) Atomics.add(words, Header.evictions, 1);
        this.drop(owner - 1);
      }
    }
    words[Header.hand] = page;
    return missing === 0;
  }

  /** Assigns the pages to a slot. */
  own(first: number, count: number, slot: number): void {
    const { words, geometry } = this.#memory;
    for (let page = first, left = count; left > 0; left--) {
      words[geometry.owners + page] = slot + 1;
      page = this.#memory.pageAfter(page);
    }
  }

  /** Frees a slot and its pages. */
  drop(slot: number): void {
    const { words, geometry } = this.#memory;
    this.clear(slot);
    words[geometry.tags + slot] = 0;
  }

  /** Invalidates a slot for readers, and frees its pages; its tag stays. */
  clear(slot: number): void {
    const { words } = this.#memory;
    const at = this.#memory.slotAt(slot);
    const sequence = Atomics.load(words, at);
    // Other threads end entries without the lock.
    if ((sequence & 1) === 1 && Atomics.compareExchange(words, at, sequence, sequence + 1) === sequence) {
      Atomics.sub(words, Header.entries, 1);
    }
    this.#free(words[at + Slot.firstPage]!, words[at + Slot.pages]!);
    words[at + Slot.pages] = 0;
  }

  /** Frees what a thread was writing. */
  abandon(thread: number): void {
    const { words, geometry } = this.#memory;
    const record = this.#memory.recordAt(thread) + Record.writing;
    let page = words[record]! - 1;
    words[record] = 0;
    while (page >= 0 && page < geometry.pageCount && words[geometry.owners + page] === writing) {
      const after = this.#memory.pageAfter(page);
      this.#free(page, 1);
      page = after;
    }
  }

  #hasFree(pages: number): boolean {
    const { pageCount } = this.#memory.geometry;
    const free = pageCount - this.#memory.words[Header.usedPages]!;
    return free >= pages && free * minFreeShare >= pageCount;
  }

  #append(page: number, thread: number): void {
    const { words, geometry } = this.#memory;
    words[geometry.owners + page] = writing;
    words[geometry.next + page] = 0;
    if (this.last < 0) {
      this.first = page;
      words[this.#memory.recordAt(thread) + Record.writing] = page + 1;
    } else {
      words[geometry.next + this.last] = page + 1;
    }
    this.last = page;
    words[Header.usedPages]!++;
  }

  #free(first: number, count: number): void {
    const { words, geometry } = this.#memory;
    for (let page = first, left = count; left > 0; left--) {
      words[geometry.owners + page] = 0;
      page = this.#memory.pageAfter(page);
    }
    words[Header.usedPages]! -= count;
  }

  /** The maximum distance of the hand from an entry's first page. */
  #adjoining(at: number): number {
    const { words } = this.#memory;
    const pages = words[at + Slot.pages]!;
    // The hand moves up, so a span as long as the number of pages has no gap, unless it wrapped within the entry;
    // skipping a page of another entry does no harm.
    // a page of another entry does no harm.
    return words[at + Slot.lastPage]! - words[at + Slot.firstPage]! + 1 === pages ? pages : 1;
  }
}

export function pagesFor(bytes: number): number {
  return Math.ceil(bytes / pageBytes);
}
