import type { AnswerTap } from '../../plugin-sdk/index.ts';

/** Bytes of answers on their way into the cache. */
export interface Budget {
  left: number;
}

export interface CollectorOptions {
  /** Bytes of the body, -1: not known. With the last of them it is complete, before the client can have it. */
  readonly length: number;
  /** Largest body, in bytes. */
  readonly limit: number;
  /** Shared by all that are under way in a worker. */
  readonly budget: Budget;
  readonly complete: (body: Uint8Array) => void;
  /** It is too large, or has broken off. */
  readonly failed: (broken: boolean) => void;
}

/** Copies an answer as it streams by; lets go of it as soon as it is too large. */
export class Collector implements AnswerTap {
  readonly #options: CollectorOptions;
  #pieces: Buffer[] | null = [];
  #size = 0;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  chunk(piece: Uint8Array): void {
    if (this.#pieces === null) return;
    const { limit, budget } = this.#options;
    const size = piece.byteLength;
    if (this.#size + size > limit || size > budget.left) {
      this.#release();
      this.#options.failed(false);
      return;
    }
    budget.left -= size;
    this.#size += size;
    this.#pieces.push(Buffer.copyBytesFrom(piece));
    if (this.#size === this.#options.length) this.end();
  }

  end(): void {
    const pieces = this.#pieces;
    if (pieces === null) return;
    const { length } = this.#options;
    // Never what is less than was announced, whatever the reason.
    if (length >= 0 && this.#size !== length) {
      this.aborted();
      return;
    }
    this.#release();
    this.#options.complete(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));
  }

  aborted(): void {
    if (this.#pieces === null) return;
    this.#release();
    this.#options.failed(true);
  }

  #release(): void {
    this.#pieces = null;
    this.#options.budget.left += this.#size;
    this.#size = 0;
  }
}
