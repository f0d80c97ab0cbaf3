import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

/** Codings of one body. */
const maxCodings = 3;
const chunkSize = 16_384;
/** Windows of 8 MB (RFC 8878 3.1.1.1.2): a frame may demand any size. */
const maxWindowLog = 23;

export interface DecodedBody {
  readonly bytes: Buffer;
  /** More followed. */
  readonly isCut: boolean;
}

/**
 * The beginning of a body without its content codings: at most `limit` bytes, and no more is decoded. `isCut`: `body` itself is only a
 * beginning. Null: a coding is not supported, or the body is broken.
 */
export async function decodePrefix(
  body: Buffer,
  codings: readonly string[],
  isCut: boolean,
  limit: number,
): Promise<DecodedBody | null> {
  if (codings.length > maxCodings) return null;
  let decoded: DecodedBody = { bytes: body, isCut };
  for (const coding of codings.toReversed()) {
    const decoder = decoderOf(coding, decoded);
    if (decoder === null) return null;
    const next = await decodeOnce(decoder, decoded, limit);
    if (next === null) return null;
    decoded = next;
  }
  return decoded;
}

/** A beginning has no end of its own: what came is decoded. */
function decoderOf(coding: string, { bytes, isCut }: DecodedBody): Transform | null {
  const zlib = { chunkSize, ...(isCut ? { finishFlush: constants.Z_SYNC_FLUSH } : {}) };
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(zlib);
    case 'deflate':
      // Some servers omit the frame that RFC 9110 8.4.1.2 requires.
      return ((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate(zlib) : createInflateRaw(zlib);
    case 'br':
      return createBrotliDecompress({
        chunkSize,
        ...(isCut ? { finishFlush: constants.BROTLI_OPERATION_FLUSH } : {}),
      });
    case 'zstd':
      return createZstdDecompress({
        chunkSize,
        params: { [constants.ZSTD_d_windowLogMax]: maxWindowLog },
        ...(isCut ? { finishFlush: constants.ZSTD_e_flush } : {}),
      });
    default:
      return null;
  }
}

function decodeOnce(decoder: Transform, { bytes, isCut }: DecodedBody, limit: number): Promise<DecodedBody | null> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let size = 0;
    const finish = (result: DecodedBody | null): void => {
      resolve(result);
      decoder.destroy();
    };
    const decoded = (cut: boolean): DecodedBody => ({ bytes: Buffer.concat(pieces).subarray(0, limit), isCut: cut });
    decoder.on('data', (piece: Buffer) => {
      pieces.push(piece);
      size += piece.byteLength;
      if (size > limit) finish(decoded(true));
    });
    decoder.once('end', () => finish(decoded(isCut)));
    decoder.once('close', () => resolve(null));
    decoder.on('error', () => finish(null));
    decoder.end(bytes);
  });
}
