import { clientGroup } from '../../../shared/util/time/fair-queue.ts';

export interface FairPlacesOptions {
  /** Maximum places that are taken at a time. */
  readonly max: number;
  /** Maximum places that are given in a second, and of these to one address: half, so that others have a chance. */
  readonly perSecond: number;
}

/** Something that has a place, and can lose it. */
export interface PlaceHolder {
  readonly ip: string;
  /** Its place is needed for another address. */
  yield(): void;
}

/**
 * A bounded number of places, shared by addresses: one client with a valid certificate cannot keep all others out. When no place is
 * free, a newcomer gets the newest one of the address that has the most, if that one has more than the newcomer would have.
 */
export class FairPlaces<T extends PlaceHolder> {
  readonly #options: FairPlacesOptions;
  readonly #groups = new Map<string, Set<T>>();
  readonly #given = new Map<string, number>();
  #taken = 0;
  #second = -1;
  #givenInSecond = 0;

  constructor(options: FairPlacesOptions) {
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Whether a client of that address may have a place now. May take one from another. */
  admits(ip: string): boolean {
    const group = clientGroup(ip);
    if (!this.#inTurn(group)) return false;
    if (this.#taken < this.#options.max) return true;
    const largest = this.#largest();
    if (largest === null || largest.size <= (this.#groups.get(group)?.size ?? 0) + 1) return false;
    const newest = [...largest].at(-1);
    if (newest === undefined) return false;
    this.remove(newest);
    newest.yield();
    return true;
  }

  add(one: T): void {
    const group = clientGroup(one.ip);
    const members = this.#groups.get(group) ?? new Set();
    if (members.has(one)) return;
    members.add(one);
    this.#groups.set(group, members);
    this.#taken++;
  }

  /** Does nothing for one without a place. */
  remove(one: T): void {
    const group = clientGroup(one.ip);
    const members = this.#groups.get(group);
    if (members?.delete(one) !== true) return;
    if (members.size === 0) this.#groups.delete(group);
    this.#taken--;
  }

  #inTurn(group: string): boolean {
    const { perSecond } = this.#options;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#givenInSecond = 0;
      this.#given.clear();
    }
    const own = this.#given.get(group) ?? 0;
    if (this.#givenInSecond >= perSecond || own >= perSecond / 2) return false;
    this.#givenInSecond++;
    this.#given.set(group, own + 1);
    return true;
  }

  #largest(): Set<T> | null {
    let largest: Set<T> | null = null;
    for (const members of this.#groups.values()) if (members.size > (largest?.size ?? 0)) largest = members;
    return largest;
  }
}
