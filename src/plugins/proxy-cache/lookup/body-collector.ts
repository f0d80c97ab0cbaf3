import type { AnswerTap } from '../../../plugin-sdk/index.ts';

/** Bytes that a worker may still copy for the cache. */
export interface CopyBudget {
  available: number;
}

export interface BodyCollectorOptions {
  /** Length of the body, -1: unknown. The body is complete with its last byte, before the client can have it. */
  readonly length: number;
  /** Maximum size of the body, in bytes; a known `length` is within it. */
  readonly limit: number;
  /** Shared by all responses that a worker is copying. */
  readonly budget: CopyBudget;
  readonly complete: (body: Uint8Array) => void;
  /** The body is too large, or (`aborted`) incomplete. */
  readonly failed: (aborted: boolean) => void;
}

/** Copies a response body while it streams to the client; discards the copy as soon as it is too large. */
export class BodyCollector implements AnswerTap {
  readonly #options: BodyCollectorOptions;
  /** The whole body, if its length is known: nothing has to be concatenated at the end. */
  #whole: Buffer | null = null;
  #pieces: Buffer[] = [];
  #size = 0;
  #reserved = 0;
  #open = true;

  constructor(options: BodyCollectorOptions) {
    this.#options = options;
  }

  chunk(piece: Uint8Array): void {
    if (!this.#open) return;
    const { length } = this.#options;
    const size = this.#size + piece.byteLength;
    if (!this.#reserve(size) || (length >= 0 && size > length)) {
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
    // A body that is shorter than announced is never stored.
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

  /** Reserves room for so many bytes in total; for the whole body at once if its length is known. */
  #reserve(size: number): boolean {
    const { length, limit, budget } = this.#options;
    const wanted = Math.max(length, size) - this.#reserved;
    if (size > limit || wanted > budget.available) return false;
    budget.available -= wanted;
    this.#reserved += wanted;
    return true;
  }

  #close(): void {
    this.#open = false;
    this.#options.budget.available += this.#reserved;
    this.#reserved = 0;
    this.#whole = null;
    this.#pieces = [];
  }
}
