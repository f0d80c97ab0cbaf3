import { decodeBase64 } from './base64.ts';
import type { WebFormat } from './formats.ts';
import { FrameCollector, frame } from './frames.ts';
import type { MethodCodec } from './transcoder.ts';

/** The request body in gRPC's form, or its problem. */
export function requestBody(body: Uint8Array, format: WebFormat, codec: MethodCodec | null): Uint8Array | string {
  const bytes = format.text ? decodeBase64(body) : body;
  if (bytes === null) return 'the body is not base64';
  if (codec === null) return bytes;
  try {
    return format.framed ? jsonFrames(bytes, codec) : frame(0, codec.encode(Buffer.from(bytes).toString()));
  } catch (error) {
    return `the body cannot be read as the method's message: ${(error as Error).message}`;
  }
}

function jsonFrames(bytes: Uint8Array, codec: MethodCodec): Buffer {
  const frames = new FrameCollector(bytes.byteLength);
  const messages = frames.push(bytes).map(({ payload }) => frame(0, codec.encode(payload.toString())));
  if (!frames.atRest) throw new Error('it ends within a message');
  return Buffer.concat(messages);
}
