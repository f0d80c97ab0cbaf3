import { sharedClock } from '../util/time/clock.ts';

/** Int32 positions in a slot. */
const Field = {
  /** Health and its counters, in one word (health/health-word.ts). Bit 0: unhealthy. */
  health: 0,
  /** Requests in flight, on all workers. */
  active: 5,
  /** Moving average of the latency in microseconds; 0: unknown. */
  latency: 6,
  /**
   * When the average was last changed, and when the address became available: milliseconds since the zone was created.
   */
  latencyAt: 7,
  availableSince: 8,
  /** In an upstream's slot: the round-robin cursor, and a number that grows with each change of availability. */
  cursor: 9,
  version: 10,
} as const;

const fields = 16;
const activeField = Field.active;

/** Shared memory behind an `AddressZone`: the slots, and each worker's own count of requests in flight. */
export interface AddressZoneMemory {
  readonly slots: SharedArrayBuffer;
  readonly inFlight: SharedArrayBuffer;
  /** When the zone was created, in milliseconds of the clock that all threads share. */
  readonly epoch: number;
}

/** Maximum addresses and upstreams of a node. Unused memory is never touched, so it costs nothing. */
export const maxSlots = 65_536;

export function createAddressZone(workers: number): AddressZoneMemory {
  return {
    slots: new SharedArrayBuffer(maxSlots * fields * 4),
    inFlight: new SharedArrayBuffer(maxSlots * workers * 4),
    epoch: sharedClock()(),
  };
}

/**
 * The shared state of backend addresses for all workers and the control plane: health, requests in flight, latency; and
 * of upstreams: the round-robin cursor. The control plane allocates the slots (address-slots.ts). Slot 0 is for
 * addresses without a slot of their own: always healthy. Nothing here waits or throws.
 */
export class AddressZone {
  readonly #slots: Int32Array;
  readonly #inFlight: Int32Array;
  readonly #clock: () => number;
  readonly #epoch: number;
  /** Where the next request was counted before it began (`reserve`); 0: nowhere. */
  #reserved = 0;
  /** See `leastActive`. */
  minFound = Number.POSITIVE_INFINITY;

  /** `worker`: whose requests in flight are counted; -1 in the control plane, which has none. */
  constructor(memory: AddressZoneMemory, worker: number) {
    this.#slots = new Int32Array(memory.slots);
    const rows = Math.max(0, worker);
    this.#inFlight = new Int32Array(memory.inFlight, rows * maxSlots * 4, maxSlots);
    this.#clock = sharedClock();
    this.#epoch = memory.epoch;
  }

  /** Milliseconds since the zone was created. */
  now(): number {
    return Math.max(0, Math.trunc(this.#clock() - this.#epoch));
  }

  isHealthy(slot: number): boolean {
    return (this.#slots[slot * fields + Field.health]! & 1) === 0;
  }

  /**
   * Clears the counters. Returns false when the health was already so: of several concurrent reports, only one has
   * changed it.
   */
  setHealthy(slot: number, healthy: boolean): boolean {
    if (slot === 0) return false;
    const after = healthy ? 0 : 1;
    const before = Atomics.exchange(this.#slots, slot * fields + Field.health, after);
    if ((before & 1) === after) return false;
    if (healthy) this.markAvailable(slot);
    return true;
  }

  healthWord(slot: number): number {
    return Atomics.load(this.#slots, slot * fields + Field.health);
  }

  /** False: another thread has changed it since `before` was read. */
  replaceHealthWord(slot: number, before: number, after: number): boolean {
    if (slot === 0) return false;
    return Atomics.compareExchange(this.#slots, slot * fields + Field.health, before, after) === before;
  }

  /** A request to the address begins or ends. */
  begin(slot: number): void {
    if (this.#reserved !== 0 && this.#takeReserved(slot)) return;
    this.#inFlight[slot]!++;
    Atomics.add(this.#slots, slot * fields + Field.active, 1);
  }

  /**
   * Counts the request that begins next, unless the count is no longer `active`: returns false then, because another
   * worker was faster. A request that does not begin there after all is subtracted with the next one.
   */
  reserve(slot: number, active: number): boolean {
    if (this.#reserved !== 0) this.#takeReserved(0);
    const at = slot * fields + Field.active;
    if (Atomics.compareExchange(this.#slots, at, active, active + 1) !== active) return false;
    this.#inFlight[slot]!++;
    this.#reserved = slot;
    return true;
  }

  /** False: it was reserved for another address, and is no longer counted there. */
  #takeReserved(slot: number): boolean {
    const reserved = this.#reserved;
    this.#reserved = 0;
    if (reserved === slot) return true;
    this.end(reserved);
    return false;
  }

  end(slot: number): void {
    this.#inFlight[slot]!--;
    Atomics.sub(this.#slots, slot * fields + Field.active, 1);
  }

  active(slot: number): number {
    return Atomics.load(this.#slots, slot * fields + Field.active);
  }

  /** The same at a seventh of the cost, and perhaps some nanoseconds old: to compare many addresses. */
  activeApproximate(slot: number): number {
    return this.#slots[slot * fields + Field.active]!;
  }

  /**
   * Index of the address in a part of a list (`from` up to before `to`) with the lowest cost: requests in flight plus
   * one, times `costs`. Returns the first of equals, and stops at one that is no more than `enough`. -1: the part is
   * empty. `minFound` has the cost found: by now it may be higher.
   */
  leastActive(slots: Int32Array, costs: Float64Array, from: number, to: number, enough: number): number {
    const shared = this.#slots;
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let index = from; index < to; index++) {
      const score = (shared[slots[index]! * fields + activeField]! + 1) * costs[index]!;
      if (score >= least) continue;
      best = index;
      least = score;
      if (score <= enough) break;
    }
    this.minFound = least;
    return best;
  }

  /** Microseconds; 0: unknown. Read like `activeApproximate`; the writer notices when it was too old (`setLatency`). */
  latency(slot: number): number {
    return this.#slots[slot * fields + Field.latency]!;
  }

  /** Milliseconds since the zone was created. */
  latencyAt(slot: number): number {
    return this.#slots[slot * fields + Field.latencyAt]!;
  }

  /** False: another thread has changed it since `before` was read. */
  setLatency(slot: number, before: number, microseconds: number): boolean {
    const at = slot * fields;
    if (Atomics.compareExchange(this.#slots, at + Field.latency, before, microseconds) !== before) return false;
    Atomics.store(this.#slots, at + Field.latencyAt, this.now());
    return true;
  }

  /** Milliseconds since the zone was created; 0: since the zone was created. */
  availableSince(slot: number): number {
    return Atomics.load(this.#slots, slot * fields + Field.availableSince);
  }

  markAvailable(slot: number): void {
    if (slot === 0) return;
    Atomics.store(this.#slots, slot * fields + Field.availableSince, this.now());
  }

  /** The upstream's cursor before this step: no number is returned twice in a round. Wraps at 2^32. */
  step(upstreamSlot: number): number {
    return Atomics.add(this.#slots, upstreamSlot * fields + Field.cursor, 1) >>> 0;
  }

  /** Changes when an address of the upstream has become available or unavailable. */
  version(upstreamSlot: number): number {
    return this.#slots[upstreamSlot * fields + Field.version]!;
  }

  /** The same, and health that is read after it is not older than it. */
  versionNow(upstreamSlot: number): number {
    return Atomics.load(this.#slots, upstreamSlot * fields + Field.version);
  }

  changed(upstreamSlot: number): void {
    Atomics.add(this.#slots, upstreamSlot * fields + Field.version, 1);
  }

  /** Resets a slot for its next owner. The count in flight is left to its workers, which may still use it. */
  clear(slot: number): void {
    for (let field = 0; field < fields; field++)
      if (field !== activeField) Atomics.store(this.#slots, slot * fields + field, 0);
  }
}

/** A worker has ended: its requests are no longer in flight. Called before its successor starts. */
export function clearInFlight(memory: AddressZoneMemory, worker: number): void {
  const slots = new Int32Array(memory.slots);
  const row = new Int32Array(memory.inFlight, worker * maxSlots * 4, maxSlots);
  for (let slot = 0; slot < maxSlots; slot++) {
    const count = row[slot]!;
    if (count === 0) continue;
    Atomics.sub(slots, slot * fields + Field.active, count);
    row[slot] = 0;
  }
}
