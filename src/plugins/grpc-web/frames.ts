const headSize = 5;
/** Set in the first byte of a frame that holds the trailers. */
const trailerFlag = 0x80;

/** A frame: a byte of flags, the length in four, the bytes (gRPC over HTTP/2, Length-Prefixed-Message). */
export function frame(flags: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(headSize + payload.byteLength);
  bytes[0] = flags;
  bytes.writeUInt32BE(payload.byteLength, 1);
  bytes.set(payload, headSize);
  return bytes;
}

/** The last frame of an answer: the trailers as lines, names in lower case. */
export function trailerFrame(trailers: Readonly<Record<string, readonly string[]>>): Buffer {
  let text = '';
  for (const [name, values] of Object.entries(trailers)) for (const value of values) text += `${name}:${value}\r\n`;
  return frame(trailerFlag, Buffer.from(text, 'latin1'));
}

/** Follows frames through the pieces of a body, and tells of each part and of each end. */
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
        // One more than is left, so that an empty frame is not mistaken for one whose length is not known.
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

/** Takes whole frames out of the pieces of a body. Throws when one is larger than `limit` bytes. */
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

  /** The frames that end in this piece: flags and payload. */
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
