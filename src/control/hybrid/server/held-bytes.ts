/** Whose bytes are held: a data plane's connection. */
export interface Holder {
  readonly ip: string;
  /** It holds too much. */
  drop(): void;
}

/**
 * Bytes that connections make this process hold: messages that have not arrived completely, and calls without an answer. Above the
 * maximum, the connection with the most is dropped, of the address that holds the most.
 */
export class HeldBytes {
  readonly #max: number;
  readonly #held = new Map<Holder, number>();
  #total = 0;

  /** `max`: of all connections together. */
  constructor(max: number) {
    this.#max = max;
  }

  get total(): number {
    return this.#total;
  }

  set(holder: Holder, bytes: number): void {
    this.#total += bytes - (this.#held.get(holder) ?? 0);
    if (bytes === 0) this.#held.delete(holder);
    else this.#held.set(holder, bytes);
    if (this.#total > this.#max) this.#dropLargest();
  }

  #dropLargest(): void {
    const addresses = new Map<string, { bytes: number; largest: Holder; most: number }>();
    for (const [holder, bytes] of this.#held) {
      const known = addresses.get(holder.ip);
      if (known === undefined) addresses.set(holder.ip, { bytes, largest: holder, most: bytes });
      else {
        known.bytes += bytes;
        if (bytes > known.most) Object.assign(known, { largest: holder, most: bytes });
      }
    }
    const [worst] = [...addresses.values()].sort((one, other) => other.bytes - one.bytes);
    if (worst === undefined) return;
    this.set(worst.largest, 0);
    worst.largest.drop();
  }
}
