import { promisify } from 'node:util';
import {
  brotliDecompress,
  brotliDecompressSync,
  gunzip,
  gunzipSync,
  inflate,
  inflateRaw,
  inflateRawSync,
  inflateSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib';
import { clientGroup, FairQueue, overloaded } from '../time/fair-queue.ts';
import { asBuffer } from './as-buffer.ts';

/** `unknown`: an unsupported coding; `overloaded`: too many bodies wait, or it waited too long. */
export type ContentCodingFault = 'unknown' | 'broken' | 'too-large' | 'overloaded';

export class ContentCodingError extends Error {
  readonly fault: ContentCodingFault;

  constructor(fault: ContentCodingFault) {
    super(`the content coding is ${fault}`);
    this.name = 'ContentCodingError';
    this.fault = fault;
  }
}

interface Decoder {
  now(body: Uint8Array, options: { maxOutputLength: number }): Buffer;
  later(body: Uint8Array, options: { maxOutputLength: number }): Promise<Buffer>;
}

const zlibDecoder: Decoder = { now: inflateSync, later: promisify(inflate) };
/** Some servers send `deflate` without the frame that RFC 9110 8.4.1.2 requires. */
const rawDecoder: Decoder = { now: inflateRawSync, later: promisify(inflateRaw) };
const gzip: Decoder = { now: gunzipSync, later: promisify(gunzip) };

const decoders: ReadonlyMap<string, (body: Uint8Array) => Decoder> = new Map<string, (body: Uint8Array) => Decoder>([
  ['gzip', () => gzip],
  ['x-gzip', () => gzip],
  ['deflate', (body) => (((body[0] ?? 0) & 0x0f) === 8 ? zlibDecoder : rawDecoder)],
  ['br', () => ({ now: brotliDecompressSync, later: promisify(brotliDecompress) })],
  ['zstd', () => ({ now: zstdDecompressSync, later: promisify(zstdDecompress) })],
]);

/** Bodies up to this size are decoded at once; others in the threads of libuv. */
const small = 16_384;
const maxCodings = 3;
/** Bodies that are decoded concurrently: as many as libuv has threads, so that few of them are half done. */
const concurrency = 4;
/**
 * Maximum bodies that wait; the memory for bodies bounds them too. Above it, the client with most of them loses its
 * newest.
 */
const maxWaiting = 1024;
const queue = new FairQueue({ concurrency, maxWaiting, maxWaitingPerGroup: maxWaiting });

/** The codings of `Content-Encoding`, in the order in which they were applied; `identity` is omitted. */
export function contentCodings(fields: readonly string[]): readonly string[] {
  if (fields.length === 0) return [];
  const names = fields.flatMap((field) => field.split(',')).map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '' && name !== 'identity');
}

/** True when all of them can be decoded. */
export function supportsCodings(codings: readonly string[]): boolean {
  return codings.length <= maxCodings && codings.every((coding) => decoders.has(coding));
}

/**
 * Decodes the codings, the last one first. Synchronous when the body is small. Throws or rejects with a
 * `ContentCodingError`; `maxBytes` bounds the output of each step. `client`: the IP address of the client that the body
 * is for; large bodies of different clients are scheduled fairly.
 */
export function decodeContent(
  body: Uint8Array,
  codings: readonly string[],
  maxBytes: number,
  client: string,
): Buffer | Promise<Buffer> {
  if (!supportsCodings(codings)) throw new ContentCodingError('unknown');
  if (body.byteLength <= small) return decodeNow(body, codings, maxBytes);
  return decodeQueued(body, codings, maxBytes, client);
}

function decodeNow(body: Uint8Array, codings: readonly string[], maxOutputLength: number): Buffer {
  let decoded = asBuffer(body);
  try {
    for (const coding of codings.toReversed()) decoded = decoderOf(coding, decoded).now(decoded, { maxOutputLength });
  } catch (error) {
    throw codingError(error);
  }
  return decoded;
}

async function decodeQueued(
  body: Uint8Array,
  codings: readonly string[],
  maxBytes: number,
  client: string,
): Promise<Buffer> {
  const decoded = await queue.run(clientGroup(client), () => decodeLater(body, codings, maxBytes));
  if (decoded === overloaded) throw new ContentCodingError('overloaded');
  return decoded;
}

async function decodeLater(body: Uint8Array, codings: readonly string[], maxOutputLength: number): Promise<Buffer> {
  let decoded = asBuffer(body);
  try {
    for (const coding of codings.toReversed()) {
      decoded = await decoderOf(coding, decoded).later(decoded, { maxOutputLength });
    }
  } catch (error) {
    throw codingError(error);
  }
  return decoded;
}

function decoderOf(coding: string, body: Uint8Array): Decoder {
  const decoder = decoders.get(coding)?.(body);
  if (decoder === undefined) throw new ContentCodingError('unknown');
  return decoder;
}

function codingError(error: unknown): ContentCodingError {
  if (error instanceof ContentCodingError) return error;
  const tooLarge = (error as { readonly code?: unknown } | null)?.code === 'ERR_BUFFER_TOO_LARGE';
  return new ContentCodingError(tooLarge ? 'too-large' : 'broken');
}
