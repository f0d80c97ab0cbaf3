import type { InheritedDescriptors } from '../../shared/sockets/listening-sockets.ts';
import { duplicateDescriptors } from './duplicate-descriptors.ts';

interface Slot {
  readonly key: string;
  readonly worker: number;
  readonly udp: boolean;
  /** Stays open, so that the socket outlives each worker. */
  readonly original: number;
  /** Descriptors for the next workers of this number. */
  readonly ready: number[];
}

export interface SharedSocket {
  readonly key: string;
  readonly udp: boolean;
  readonly descriptors: readonly number[];
}

export interface SupplyLog {
  log(level: 'error', message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/**
 * Descriptors for workers of sockets that only their creator can bind (systemd): workers share them, and a worker that replaces another
 * gets one too. Datagrams of a client must reach the same worker, so each UDP socket has one worker.
 */
export class DescriptorSupply {
  readonly #slots: readonly Slot[];
  #log: SupplyLog = { log: () => {} };

  static async open(sockets: readonly SharedSocket[], workers: number): Promise<DescriptorSupply> {
    const slots = sockets.flatMap(({ key, udp, descriptors }) =>
      Array.from({ length: udp ? descriptors.length : Math.max(workers, descriptors.length) }, (_, at) => ({
        key,
        udp,
        worker: at % workers,
        original: descriptors[at % descriptors.length] ?? 0,
        ready: [],
      })),
    );
    const supply = new DescriptorSupply(slots);
    // One to begin with, and one to spare.
    await supply.#fill(slots, 2);
    return supply;
  }

  private constructor(slots: readonly Slot[]) {
    this.#slots = slots;
  }

  logTo(log: SupplyLog): void {
    this.#log = log;
  }

  /** Descriptors for a worker that starts. Each belongs to that worker. */
  take(worker: number): InheritedDescriptors {
    const taken: Record<string, number[]> = {};
    const used: Slot[] = [];
    for (const slot of this.#slots) {
      const list = taken[slot.key] ?? [];
      taken[slot.key] = list;
      if (slot.worker !== worker) continue;
      const descriptor = slot.ready.shift();
      if (descriptor !== undefined) list.push(descriptor);
      if (slot.ready.length === 0) used.push(slot);
    }
    if (used.length > 0) {
      this.#fill(used, 1).catch((error: unknown) => {
        this.#log.log('error', 'no socket is left for a worker that replaces another', { err: error });
      });
    }
    return taken;
  }

  async #fill(slots: readonly Slot[], count: number): Promise<void> {
    const found = await duplicateDescriptors(slots.map(({ original, udp }) => ({ descriptor: original, udp, count })));
    for (const [at, slot] of slots.entries()) slot.ready.push(...(found[at] ?? []));
  }
}
