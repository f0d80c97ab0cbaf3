import { crc32 } from 'node:zlib';
import type { StoredEntry } from './answer-store.ts';

/*
 * An entry but for its body, as bytes:
 *
 *   0   "SGA1"
 *   4   CRC-32 of what follows and of the body, or 0
 *   8   expires, a double
 *   16  bytes of the body, of head, of url and of tags, 32 bits each
 *   32  head, url, and tags with a NUL before and after each, in UTF-8
 *
 * Numbers are little-endian. Whatever does not fit this is no entry.
 */

const mark = 0x31_41_47_53;
const fixedBytes = 32;

/** Bytes of the longest head, url and tags together. */
export const mostMetaBytes = 2 ** 20;

/** `sum`: with a checksum, for where others may write. */
export function encodeMeta({ head, url, tags, body, expires }: StoredEntry, sum: boolean): Buffer {
  const texts = [head, url, tagText(tags)];
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(lengths.reduce((total, length) => total + length, fixedBytes));
  bytes.writeUInt32LE(mark, 0);
  bytes.writeUInt32LE(0, 4);
  bytes.writeDoubleLE(expires, 8);
  bytes.writeUInt32LE(body.length, 16);
  let at = fixedBytes;
  for (const [place, length] of lengths.entries()) {
    bytes.writeUInt32LE(length, 20 + place * 4);
    at += bytes.write(texts[place] as string, at);
  }
  if (sum) bytes.writeUInt32LE(sumOf(bytes, body), 4);
  return bytes;
}

/** Null: it is none, or not a whole one. */
export function decodeEntry(meta: Buffer, body: Buffer, sum: boolean): StoredEntry | null {
  if (meta.length < fixedBytes || meta.readUInt32LE(0) !== mark || meta.readUInt32LE(16) !== body.length) return null;
  if (sum && meta.readUInt32LE(4) !== sumOf(meta, body)) return null;
  const expires = meta.readDoubleLE(8);
  const headEnd = fixedBytes + meta.readUInt32LE(20);
  const urlEnd = headEnd + meta.readUInt32LE(24);
  const end = urlEnd + meta.readUInt32LE(28);
  if (end !== meta.length || Number.isNaN(expires)) return null;
  return {
    head: meta.toString('utf8', fixedBytes, headEnd),
    body,
    expires,
    tags: tagsOf(meta, urlEnd),
    url: meta.toString('utf8', headEnd, urlEnd),
  };
}

/** What purges look at, of what `encodeMeta` made. */
export function readLabels(meta: Buffer): { readonly tags: readonly string[]; readonly url: string } {
  const headEnd = fixedBytes + meta.readUInt32LE(20);
  const urlEnd = headEnd + meta.readUInt32LE(24);
  return { tags: tagsOf(meta, urlEnd), url: meta.toString('utf8', headEnd, urlEnd) };
}

/** A copy of the checksum of what `encodeMeta` made with one. */
export function checksumOf(meta: Buffer): Uint8Array {
  return new Uint8Array(meta.subarray(4, 8));
}

/** NUL stands between tags, and can be in none: a header has no control characters. */
export function tagText(tags: readonly string[]): string {
  return tags.length === 0 ? '' : `\0${tags.join('\0')}\0`;
}

function tagsOf(meta: Buffer, from: number): readonly string[] {
  return from === meta.length ? [] : meta.toString('utf8', from + 1, meta.length - 1).split('\0');
}

function sumOf(meta: Buffer, body: Uint8Array): number {
  return crc32(body, crc32(meta.subarray(8)));
}
