import { type OutputPiece, pieceSize, takePiece } from '../frames/output-piece.ts';

/** Smaller remainders are copied into memory of their own size. */
const minPooled = 16_384;

interface Pending {
  readonly bytes: Uint8Array;
  start: number;
  end: number;
  /** Null: its memory is not from the pool. */
  readonly piece: OutputPiece | null;
}

/** Bytes that a stream may not send yet, in order. */
export class PendingBytes {
  size = 0;
  readonly #list: Pending[] = [];

  /** Copies the range. */
  push(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const size = Math.min(end - at, pieceSize);
      const piece = size >= minPooled ? takePiece() : null;
      const target = piece === null ? Buffer.allocUnsafe(size) : piece.bytes;
      target.set(bytes.subarray(at, at + size));
      this.#list.push({ bytes: target, start: 0, end: size, piece });
      at += size;
    }
    this.size += end - start;
  }

  /** Passes at most `size` bytes from the front to `take`, and forgets them. */
  shift(size: number, take: (bytes: Uint8Array, start: number, end: number) => void): void {
    let left = Math.min(size, this.size);
    this.size -= left;
    while (left > 0) {
      const first = this.#list[0] as Pending;
      const part = Math.min(left, first.end - first.start);
      take(first.bytes, first.start, first.start + part);
      first.start += part;
      left -= part;
      if (first.start === first.end) {
        this.#list.shift();
        first.piece?.written();
      }
    }
  }

  clear(): void {
    for (const { piece } of this.#list) piece?.written();
    this.#list.length = 0;
    this.size = 0;
  }
}
