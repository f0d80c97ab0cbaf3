const headSize = 5;
/** Flag in the first byte of the frame with the trailers. */
const trailerFlag = 0x80;

/** A frame: one byte of flags, four bytes of length, the message (gRPC over HTTP/2, Length-Prefixed-Message). */
export function frame(flags: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(headSize + payload.byteLength);
  bytes[0] = flags;
  bytes.writeUInt32BE(payload.byteLength, 1);
  bytes.set(payload, headSize);
  return bytes;
}

/** The last frame of a response: the trailers as lines, names in lower case. */
export function trailerFrame(trailers: Readonly<Record<string, readonly string[]>>): Buffer {
  let text = '';
  for (const [name, values] of Object.entries(trailers)) for (const value of values) text += `${name}:${value}\r\n`;
  return frame(trailerFlag, Buffer.from(text, 'latin1'));
}

/** Tracks frames across the chunks of a body, and reports each part and each end. */
export class FrameWalker {
  #head = Buffer.allocUnsafe(headSize);
  #headFilled = 0;
  #left = 0;

  /** Between two frames. */
  get atRest(): boolean {
    return this.#headFilled === 0 && this.#left === 0;
  }

  /** `part`: a range of one frame, its head included; `last`: it ends there. `length`: of the frame's payload. */
  walk(piece: Uint8Array, part: (start: number, end: number, last: boolean, length: number) => void): void {
    for (let at = 0; at < piece.byteLength; ) {
      const start = at;
      while (this.#headFilled < headSize && at < piece.byteLength)
        this.#head[this.#headFilled++] = piece[at++] as number;
      if (this.#headFilled === headSize && this.#left === 0) this.#left = this.#head.readUInt32BE(1) + 1;
      let last = false;
      if (this.#left > 0) {
        // One more than the rest, so that an empty frame is not mistaken for one of unknown length.
        const size = Math.min(this.#left - 1, piece.byteLength - at);
        at += size;
        this.#left -= size;
        last = this.#left === 1;
      }
      part(start, at, last, this.#headFilled === headSize ? this.#head.readUInt32BE(1) : 0);
      if (last) {
        this.#left = 0;
        this.#headFilled = 0;
      }
    }
  }
}

/** Collects whole frames from the chunks of a body. Throws when one is larger than `limit` bytes. */
export class FrameCollector {
  readonly #walker = new FrameWalker();
  readonly #limit: number;
  #parts: Uint8Array[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get atRest(): boolean {
    return this.#walker.atRest;
  }

  /** The frames that end in this chunk: flags and payload. */
  push(piece: Uint8Array): { readonly flags: number; readonly payload: Buffer }[] {
    const whole: { readonly flags: number; readonly payload: Buffer }[] = [];
    this.#walker.walk(piece, (start, end, last, length) => {
      if (length > this.#limit) throw new Error(`a message of ${length} bytes is larger than ${this.#limit}`);
      this.#parts.push(piece.slice(start, end));
      if (!last) return;
      const bytes = Buffer.concat(this.#parts);
      this.#parts = [];
      whole.push({ flags: bytes[0] as number, payload: bytes.subarray(headSize) });
    });
    return whole;
  }
}
