import { FrameWalker } from './frames.ts';

const groups = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*$/;

/** Decodes concatenated base64 texts, each with its own padding. Null when it is not base64. */
export function decodeBase64(body: Uint8Array): Buffer | null {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  if (!groups.test(text)) return null;
  return Buffer.concat(text.split(/(?<==)(?!=)/).map((part) => Buffer.from(part, 'base64')));
}

/**
 * Encodes frames to base64 as they stream. Padding occurs only at the end of a frame, so that a client can read each message
 * as soon as it arrives, and each chunk by itself.
 */
export class FrameEncoder {
  readonly #walker = new FrameWalker();
  /** Up to two bytes that wait for the next ones. */
  #rest: Buffer = Buffer.alloc(0);

  /** Between two frames. */
  get atRest(): boolean {
    return this.#walker.atRest;
  }

  push(piece: Uint8Array): Uint8Array | null {
    let text = '';
    this.#walker.walk(piece, (start, end, last) => {
      const bytes = Buffer.concat([this.#rest, piece.subarray(start, end)]);
      const whole = last ? bytes.byteLength : bytes.byteLength - (bytes.byteLength % 3);
      text += bytes.toString('base64', 0, whole);
      this.#rest = bytes.subarray(whole);
    });
    return text === '' ? null : Buffer.from(text, 'latin1');
  }
}
