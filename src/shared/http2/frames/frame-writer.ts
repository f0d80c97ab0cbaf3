import type { Socket } from 'node:net';
import { Flag, FrameType, frameHeadSize, maxFrameSize } from './codes.ts';
import { type OutputPiece, pieceSize, takePiece } from './output-piece.ts';

/** Bytes. A DATA frame that would be shorter begins in another piece. */
const minDataSize = 1024;

/** Collects the frames of one turn, which leave in one write. */
export class FrameWriter {
  /** Bytes that are not written yet. */
  size = 0;
  #full: OutputPiece[] = [];
  #piece: OutputPiece | null = null;
  /** The last frame, if `endStream` can still end its stream. 0: none. */
  #lastStream = 0;
  #lastFlags: Uint8Array | null = null;
  #lastAt = 0;

  /** Writes everything. Returns what the socket's `write` returns: false when it holds more than it should. */
  flush(socket: Socket): boolean {
    const piece = this.#piece;
    if (piece === null) return true;
    const full = this.#full;
    this.#piece = null;
    this.#forget();
    this.size = 0;
    if (full.length > 0) {
      this.#full = [];
      for (const each of full) socket.write(each.bytes.subarray(0, each.used), each.written);
    }
    return socket.write(piece.bytes.subarray(0, piece.used), piece.written);
  }

  /** Discards everything. */
  clear(): void {
    for (const piece of this.#full) piece.written();
    this.#piece?.written();
    this.#full = [];
    this.#piece = null;
    this.#forget();
    this.size = 0;
  }

  /** Bytes as they stand: the preface of a client. */
  raw(bytes: Uint8Array): void {
    const { bytes: target, used } = this.#room(bytes.byteLength);
    target.set(bytes, used);
    this.#advance(bytes.byteLength);
    this.#forget();
  }

  /** Pairs of identifier and value. */
  settings(pairs: readonly (readonly [number, number])[]): void {
    const { bytes, used } = this.#begin(FrameType.settings, 0, 0, 6 * pairs.length);
    let at = used;
    for (const [id, value] of pairs) {
      bytes[at] = id >>> 8;
      bytes[at + 1] = id;
      writeUint32(bytes, at + 2, value);
      at += 6;
    }
    this.#advance(6 * pairs.length);
  }

  settingsAck(): void {
    this.#begin(FrameType.settings, Flag.ack, 0, 0);
  }

  /** Eight bytes from `start` on. */
  ping(data: Uint8Array, start: number, ack: boolean): void {
    const { bytes, used } = this.#begin(FrameType.ping, ack ? Flag.ack : 0, 0, 8);
    bytes.set(data.subarray(start, start + 8), used);
    this.#advance(8);
  }

  goaway(lastStream: number, code: number): void {
    const { bytes, used } = this.#begin(FrameType.goaway, 0, 0, 8);
    writeUint32(bytes, used, lastStream);
    writeUint32(bytes, used + 4, code);
    this.#advance(8);
  }

  reset(stream: number, code: number): void {
    this.#number(FrameType.rstStream, stream, code);
  }

  /** `stream`: 0 for the connection. */
  windowUpdate(stream: number, increment: number): void {
    this.#number(FrameType.windowUpdate, stream, increment);
  }

  #number(type: number, stream: number, value: number): void {
    const { bytes, used } = this.#begin(type, 0, stream, 4);
    writeUint32(bytes, used, value);
    this.#advance(4);
  }

  /** A header block of any length: HEADERS, and CONTINUATION where it needs them. */
  headers(stream: number, block: Uint8Array, start: number, end: number, endStream: boolean): void {
    let at = start;
    let type: number = FrameType.headers;
    let flags: number = endStream ? Flag.endStream : 0;
    let first: OutputPiece | null = null;
    let firstAt = 0;
    do {
      const size = Math.min(end - at, maxFrameSize);
      if (at + size === end) flags |= Flag.endHeaders;
      const piece = this.#begin(type, flags, stream, size);
      first ??= piece;
      if (type === FrameType.headers) firstAt = piece.used - 5;
      piece.bytes.set(block.subarray(at, at + size), piece.used);
      this.#advance(size);
      at += size;
      type = FrameType.continuation;
      flags = 0;
    } while (at < end);
    this.#remember(stream, first as OutputPiece, firstAt);
  }

  /** DATA in as many frames as it needs. */
  data(stream: number, data: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      let piece = this.#piece;
      let room = piece === null ? 0 : pieceSize - piece.used - frameHeadSize;
      if (room < end - at && room < minDataSize) {
        this.#next();
        piece = this.#piece;
        room = pieceSize - frameHeadSize;
      }
      const size = Math.min(end - at, maxFrameSize, room);
      const { bytes, used } = this.#begin(FrameType.data, 0, stream, size);
      bytes.set(data.subarray(at, at + size), used);
      this.#remember(stream, this.#piece as OutputPiece, used - 5);
      this.#advance(size);
      at += size;
    }
  }

  /** Ends a stream: with its last frame where that is still here and the very last, else with an empty one. */
  endStream(stream: number): void {
    if (stream === this.#lastStream) {
      const flags = this.#lastFlags as Uint8Array;
      flags[this.#lastAt] = (flags[this.#lastAt] as number) | Flag.endStream;
    } else this.#begin(FrameType.data, Flag.endStream, stream, 0);
    this.#forget();
  }

  /** Writes the head of a frame, and makes room for its payload, which begins at `used`. */
  #begin(type: number, flags: number, stream: number, length: number): OutputPiece {
    const piece = this.#room(frameHeadSize + length);
    const { bytes, used } = piece;
    bytes[used] = length >>> 16;
    bytes[used + 1] = length >>> 8;
    bytes[used + 2] = length;
    bytes[used + 3] = type;
    bytes[used + 4] = flags;
    writeUint32(bytes, used + 5, stream);
    this.#advance(frameHeadSize);
    if (this.#lastStream === stream) this.#forget();
    return piece;
  }

  #room(size: number): OutputPiece {
    if (this.#piece === null || pieceSize - this.#piece.used < size) this.#next();
    return this.#piece as OutputPiece;
  }

  #next(): void {
    if (this.#piece !== null) this.#full.push(this.#piece);
    this.#piece = takePiece();
  }

  #advance(size: number): void {
    (this.#piece as OutputPiece).used += size;
    this.size += size;
  }

  #remember(stream: number, piece: OutputPiece, flagsAt: number): void {
    this.#lastStream = stream;
    this.#lastFlags = piece.bytes;
    this.#lastAt = flagsAt;
  }

  #forget(): void {
    this.#lastStream = 0;
    this.#lastFlags = null;
  }
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}
