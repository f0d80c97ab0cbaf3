/** How a stream was closed, as far as it is remembered. */
export const ClosedBy = {
  /** It was skipped, or its memory is gone. */
  unknown: 0,
  /** Both sides ended it. */
  end: 1,
  /** We reset it: frames that were on their way are ignored. */
  us: 2,
  /** The peer reset it. */
  peer: 3,
} as const;
export type ClosedBy = (typeof ClosedBy)[keyof typeof ClosedBy];

/** Streams whose end is remembered. */
const remembered = 512;

/**
 * How the latest streams of a client were closed (RFC 9113 5.1): what may still arrive on a stream depends on it. Needs no
 * memory until one is reset or skipped.
 */
export class ClosedStreams {
  #slots: Uint8Array | null = null;
  /** The highest stream so far; they are odd. */
  #last = -1;

  /** A stream was opened. Lower ones that were not are closed by it (RFC 9113 5.1.1). */
  opened(stream: number): void {
    const step = (stream - this.#last) >>> 1;
    this.#last = stream;
    if (this.#slots === null && step === 1) return;
    const slots = this.#remember();
    for (let back = Math.min(step, remembered) - 1; back >= 0; back--)
      slots[((stream >>> 1) - back) & (remembered - 1)] = ClosedBy.unknown;
  }

  closed(stream: number, how: ClosedBy): void {
    if (this.#slots === null && how === ClosedBy.end) return;
    if (this.#last - stream < 2 * remembered) this.#remember()[(stream >>> 1) & (remembered - 1)] = how;
  }

  /** How a stream up to the highest one, which is not open, was closed. */
  of(stream: number): ClosedBy {
    if (this.#last - stream >= 2 * remembered) return ClosedBy.unknown;
    return this.#slots === null ? ClosedBy.end : (this.#slots[(stream >>> 1) & (remembered - 1)] as ClosedBy);
  }

  #remember(): Uint8Array {
    this.#slots ??= new Uint8Array(remembered).fill(ClosedBy.end);
    return this.#slots;
  }
}
