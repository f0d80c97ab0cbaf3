import type { BodyTransform } from '../../plugin-sdk/index.ts';
import { FrameEncoder } from './base64.ts';
import type { WebFormat } from './formats.ts';
import { FrameCollector, frame, trailerFrame } from './frames.ts';
import type { MethodCodec } from './transcoder.ts';

const compressed = 0x01;
const maxMessage = 8 * 1024 * 1024;

type Trailers = Readonly<Record<string, readonly string[]>>;

/** Converts the body of a gRPC response to gRPC-Web; `codec`: for JSON. */
export function answerBody(format: WebFormat, codec: MethodCodec | null): BodyTransform {
  const inner = codec === null ? new Frames() : new JsonMessages(codec, format.framed);
  return format.text ? new TextBody(inner) : inner;
}

/** Frames pass unchanged. */
class Frames implements BodyTransform {
  readonly keepsTrailers = true;

  chunk(piece: Uint8Array): Uint8Array {
    return piece;
  }

  end(trailers: Trailers): Uint8Array {
    return trailerFrame(trailers);
  }
}

/** Every message as JSON: in a frame, or on its own line. */
class JsonMessages implements BodyTransform {
  readonly keepsTrailers = true;
  readonly #frames = new FrameCollector(maxMessage);
  readonly #codec: MethodCodec;
  readonly #framed: boolean;
  #first = true;

  constructor(codec: MethodCodec, framed: boolean) {
    this.#codec = codec;
    this.#framed = framed;
  }

  chunk(piece: Uint8Array): Uint8Array {
    return Buffer.concat(this.#frames.push(piece).map(({ flags, payload }) => this.#message(flags, payload)));
  }

  end(trailers: Trailers): Uint8Array | null {
    if (!this.#frames.atRest) throw new Error('the answer ends within a message');
    return this.#framed ? trailerFrame(trailers) : null;
  }

  #message(flags: number, payload: Uint8Array): Buffer {
    if ((flags & compressed) !== 0) throw new Error('the message is compressed');
    const json = this.#codec.decode(payload);
    if (this.#framed) return frame(0, Buffer.from(json));
    const line = this.#first ? json : `\n${json}`;
    this.#first = false;
    return Buffer.from(line);
  }
}

/** Frames in base64. */
class TextBody implements BodyTransform {
  readonly keepsTrailers = true;
  readonly #inner: BodyTransform;
  readonly #encoder = new FrameEncoder();

  constructor(inner: BodyTransform) {
    this.#inner = inner;
  }

  chunk(piece: Uint8Array): Uint8Array | null {
    const framed = this.#inner.chunk(piece);
    return framed === null ? null : this.#encoder.push(framed);
  }

  end(trailers: Trailers): Uint8Array | null {
    if (!this.#encoder.atRest) throw new Error('the answer ends within a message');
    const rest = this.#inner.end(trailers);
    return rest === null ? null : this.#encoder.push(rest);
  }
}
