import type { NamedZone } from '../../shared/zones/zone-registry.ts';
import { ZoneTransfer } from '../../shared/zones/zone-transfer.ts';
import type { ZoneParcel } from './messages.ts';

/** Maximum bytes of all zones that are handed over: each has a copy of what the other process knows. */
const maxBytes = 512 * 2 ** 20;
/** Milliseconds between two exchanges: at first, while both processes get new requests, and later. */
const interval = 20;
const laterInterval = 250;
const soon = 2_000;

/**
 * Keeps the counters of two processes together while both serve: each sends what it has counted since the last exchange.
 * Until the other has received that, it may let through as many requests more.
 */
export class ZoneExchange {
  readonly #transfers = new Map<string, { readonly transfer: ZoneTransfer; readonly bytes: number }>();
  readonly #zones: () => readonly NamedZone[];
  #bytes = 0;
  #omitted = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `zones`: the zones of this process now. */
  constructor(zones: () => readonly NamedZone[]) {
    this.#zones = zones;
  }

  /** Zones that were too large. */
  get omitted(): number {
    return this.#omitted;
  }

  /** What is new in the zones that are exchanged. */
  changes(): readonly ZoneParcel[] {
    const parcels: ZoneParcel[] = [];
    for (const [key, { transfer, bytes }] of this.#transfers) {
      const change = transfer.changes();
      if (change !== null) parcels.push({ key, bytes, change });
    }
    return parcels;
  }

  /** Begins with all zones of limits and circuits, and returns their content. */
  begin(): readonly ZoneParcel[] {
    for (const { key, kind, memory } of this.#zones()) if (kind === 'table') this.#add(key, memory);
    return this.changes();
  }

  /** The content for a zone that was just created. False: it does not fit. */
  restore(parcel: ZoneParcel, memory: SharedArrayBuffer): boolean {
    if (parcel.bytes !== memory.byteLength) return false;
    const transfer = this.#add(parcel.key, memory);
    if (transfer?.restore(parcel.change) === true) return true;
    this.#transfers.delete(parcel.key);
    return false;
  }

  merge(parcels: readonly ZoneParcel[]): void {
    for (const { key, change } of parcels) this.#transfers.get(key)?.transfer.merge(change);
  }

  /** Sends changes at intervals until `stop`. */
  start(send: (parcels: readonly ZoneParcel[]) => void): void {
    const began = performance.now();
    const next = (): void => {
      const parcels = this.changes();
      if (parcels.length > 0) send(parcels);
      this.#timer = setTimeout(next, performance.now() - began < soon ? interval : laterInterval).unref();
    };
    this.#timer ??= setTimeout(next, 0);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#transfers.clear();
  }

  #add(key: string, memory: SharedArrayBuffer): ZoneTransfer | null {
    if (this.#bytes + memory.byteLength > maxBytes) {
      this.#omitted++;
      return null;
    }
    this.#bytes += memory.byteLength;
    const transfer = new ZoneTransfer(memory);
    this.#transfers.set(key, { transfer, bytes: memory.byteLength });
    return transfer;
  }
}
