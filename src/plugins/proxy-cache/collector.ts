import type { AnswerTap } from '../../plugin-sdk/index.ts';

/** Bytes of answers on their way into the cache. */
export interface Budget {
  left: number;
}

export interface CollectorOptions {
  /** Bytes of the body, -1: not known. With the last of them it is complete, before the client can have it. */
  readonly length: number;
  /** Largest body, in bytes; a `length` is not beyond it. */
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
  /** All of it, where its length is known: nothing has to be joined in the end. */
  #whole: Buffer | null = null;
  #pieces: Buffer[] = [];
  #size = 0;
  #taken = 0;
  #open = true;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  chunk(piece: Uint8Array): void {
    if (!this.#open) return;
    const { length } = this.#options;
    const size = this.#size + piece.byteLength;
    if (!this.#take(size) || (length >= 0 && size > length)) {
      this.#close();
      this.#options.failed(false);
      return;
    }
    if (length >= 0) {
      this.#whole ??= Buffer.allocUnsafe(length);
      this.#whole.set(piece, this.#size);
    } else this.#pieces.push(Buffer.copyBytesFrom(piece));
    this.#size = size;
    if (size === length) this.end();
  }

  end(): void {
    if (!this.#open) return;
    const { length } = this.#options;
    // Never what is less than was announced, whatever the reason.
    if (length >= 0 && this.#size !== length) {
      this.aborted();
      return;
    }
    const body = this.#whole ?? Buffer.concat(this.#pieces);
    this.#close();
    this.#options.complete(body);
  }

  aborted(): void {
    if (!this.#open) return;
    this.#close();
    this.#options.failed(true);
  }

  /** Room for so many bytes; all of them at once where their number is known. */
  #take(size: number): boolean {
    const { length, limit, budget } = this.#options;
    const wanted = Math.max(length, size) - this.#taken;
    if (size > limit || wanted > budget.left) return false;
    budget.left -= wanted;
    this.#taken += wanted;
    return true;
  }

  #close(): void {
    this.#open = false;
    this.#options.budget.left += this.#taken;
    this.#taken = 0;
    this.#whole = null;
    this.#pieces = [];
  }
}
