import { limitCounts, type PluginCount } from '../../shared/messages/messages.ts';

/** How often a plugin instance has enforced its limit lately. */
export interface LimitHit {
  readonly plugin: string;
  /** Id of the instance. */
  readonly instance: string;
  /** By name: `rejected`, `delayed`. */
  readonly counts: Readonly<Record<string, number>>;
  /** The last time, milliseconds since the epoch. */
  readonly at: number;
}

/** Milliseconds that count as lately, and of each part in which they are forgotten. */
export const limitWindow = 60_000;
const slotLength = 10_000;
/** Maximum instances; the one whose last hit is oldest is evicted. */
const maxInstances = 1_000;

interface Slot {
  readonly begunAt: number;
  readonly counts: Map<string, number>;
}

interface Entry {
  readonly plugin: string;
  /** The oldest first. */
  slots: Slot[];
  at: number;
}

/** Which limits were hit in the last minute, from the counts that workers report. */
export class LimitHits {
  readonly #now: () => number;
  /** By instance, in the order of the last hit. */
  readonly #entries = new Map<string, Entry>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  add(counts: readonly PluginCount[]): void {
    for (const [plugin, name, by, instance] of counts) {
      if (instance !== '' && limitCounts.has(name)) this.#add(plugin, name, by, instance);
    }
  }

  /** The latest first. */
  recent(): readonly LimitHit[] {
    const now = this.#now();
    for (const [instance, entry] of this.#entries) {
      entry.slots = entry.slots.filter(({ begunAt }) => Math.abs(now - begunAt) < limitWindow);
      if (entry.slots.length === 0) this.#entries.delete(instance);
    }
    return [...this.#entries].reverse().map(([instance, { plugin, slots, at }]) => {
      const counts: Record<string, number> = {};
      for (const slot of slots) for (const [name, by] of slot.counts) counts[name] = (counts[name] ?? 0) + by;
      return { plugin, instance, counts, at };
    });
  }

  #add(plugin: string, name: string, by: number, instance: string): void {
    const now = this.#now();
    const begunAt = Math.floor(now / slotLength) * slotLength;
    const entry = this.#entries.get(instance) ?? { plugin, slots: [], at: now };
    this.#entries.delete(instance);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= maxInstances && oldest.done !== true) this.#entries.delete(oldest.value);
    this.#entries.set(instance, entry);
    entry.at = now;
    let slot = entry.slots.at(-1);
    if (slot === undefined || slot.begunAt !== begunAt) {
      slot = { begunAt, counts: new Map() };
      entry.slots.push(slot);
      if (entry.slots.length > limitWindow / slotLength) entry.slots.shift();
    }
    slot.counts.set(name, (slot.counts.get(name) ?? 0) + by);
  }
}
