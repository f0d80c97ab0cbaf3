import { type AddressZone, maxSlots } from '../../shared/zones/address-zone.ts';

/**
 * Assigns slots in the address zone to upstreams and their addresses, by name: the state of `10.0.0.1:80` in upstream `a` is kept
 * after an edit, and after the upstream was deleted and created again (as in Kong). Only when the zone is full, the least recently
 * released slots are assigned to others.
 */
export class AddressSlots {
  readonly #zone: AddressZone;
  readonly #slots = new Map<string, number>();
  /** Keys of released slots, the least recently released first. */
  readonly #unused = new Set<string>();
  readonly #users = new Map<string, number>();
  #next = 1;

  constructor(zone: AddressZone) {
    this.#zone = zone;
  }

  /** The slot of this key; 0 when all slots of the zone are in use. */
  take(key: string): number {
    const known = this.#slots.get(key);
    if (known !== undefined) {
      this.#unused.delete(key);
      this.#users.set(key, (this.#users.get(key) ?? 0) + 1);
      return known;
    }
    const slot = this.#free();
    if (slot === 0) return 0;
    this.#slots.set(key, slot);
    this.#users.set(key, 1);
    return slot;
  }

  release(key: string): void {
    const users = (this.#users.get(key) ?? 0) - 1;
    if (users > 0) {
      this.#users.set(key, users);
      return;
    }
    this.#users.delete(key);
    if (this.#slots.has(key)) this.#unused.add(key);
  }

  #free(): number {
    if (this.#next < maxSlots) return this.#next++;
    for (const key of this.#unused) {
      const slot = this.#slots.get(key) as number;
      // Earlier requests may still be in flight there.
      if (this.#zone.active(slot) !== 0) continue;
      this.#unused.delete(key);
      this.#slots.delete(key);
      this.#zone.clear(slot);
      return slot;
    }
    return 0;
  }
}

export function upstreamKey(name: string): string {
  return `upstream ${name}`;
}

export function addressKey(upstreamName: string, ip: string, port: number): string {
  return `address ${upstreamName} ${ip} ${port}`;
}
