import { crc32 } from 'node:zlib';
import type { StoredResponse } from '../rules/freshness.ts';
import type { StoredEntry } from './entry-store.ts';

/* How entries are written. Formats are versioned by their first characters: an unknown format is a miss. */

/** Stored at the key of an address whose responses differ by client, route or `Vary`: says how to find each of them. */
export interface VariantIndex {
  readonly kind: 'index';
  /** Part of the keys of the responses: a new one makes the old ones unreachable. */
  readonly generation: string;
  /** Some responses are `public`. */
  readonly hasPublic: boolean;
  /** Lower-case names of request headers, sorted. */
  readonly varyNames: readonly string[];
}

const responseMark = 'A1';
const indexMark = 'I1';

/** The `head` of a stored response. */
export function encodeResponse(response: Omit<StoredResponse, 'kind'>): string {
  const { isPublic, alwaysValidate, neverStale, status, storedAt, partition, headers } = response;
  const flags = `${isPublic ? 'p' : '-'}${alwaysValidate ? 'v' : '-'}${neverStale ? 'n' : '-'}`;
  const { freshnessLifetime, initialAge, staleWhileRevalidate, staleIfError } = response;
  const times = `${storedAt} ${freshnessLifetime} ${initialAge} ${staleWhileRevalidate} ${staleIfError}`;
  return `${responseMark} ${status} ${times} ${flags}\n${partition}\n${headers}`;
}

/** The `head` of an index. */
export function encodeIndex({ generation, hasPublic, varyNames }: Omit<VariantIndex, 'kind'>): string {
  return `${indexMark} ${generation} ${hasPublic ? 'p' : '-'} ${varyNames.join(',')}`;
}

/** Reads the `head` of an entry; null for anything else. */
export function decodeHead(head: string): StoredResponse | VariantIndex | null {
  if (head.startsWith(responseMark)) return decodeResponse(head);
  return head.startsWith(indexMark) ? decodeIndex(head) : null;
}

function decodeResponse(head: string): StoredResponse | null {
  const first = head.indexOf('\n');
  const second = head.indexOf('\n', first + 1);
  const parts = head.slice(0, first).split(' ');
  const flags = parts[7];
  if (first < 0 || second < 0 || flags === undefined) return null;
  return {
    kind: 'response',
    status: Number(parts[1]),
    storedAt: Number(parts[2]),
    freshnessLifetime: Number(parts[3]),
    initialAge: Number(parts[4]),
    staleWhileRevalidate: Number(parts[5]),
    staleIfError: Number(parts[6]),
    isPublic: flags.includes('p'),
    alwaysValidate: flags.includes('v'),
    neverStale: flags.includes('n'),
    partition: head.slice(first + 1, second),
    headers: head.slice(second + 1),
  };
}

function decodeIndex(head: string): VariantIndex {
  const [, generation = '', flag = '', names = ''] = head.split(' ');
  return { kind: 'index', generation, hasPublic: flag === 'p', varyNames: names === '' ? [] : names.split(',') };
}

/*
 * An entry without its body, as bytes (numbers are little-endian):
 *
 *   0   "SGA1"
 *   4   CRC-32 of the rest and of the body, or 0
 *   8   expires, a double
 *   16  lengths of the body, of head, of url and of tags, 32 bits each
 *   32  head, url, and tags with a NUL before and after each, in UTF-8
 */

const magic = 0x31_41_47_53;
const fixedBytes = 32;

/** Maximum size of head, url and tags together. */
export const maxMetaBytes = 2 ** 20;

/** `checksum`: for servers that others can write to. */
export function encodeMeta({ head, url, tags, body, expires }: StoredEntry, checksum: boolean): Buffer {
  const texts = [head, url, tagText(tags)];
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const bytes = Buffer.allocUnsafe(lengths.reduce((total, length) => total + length, fixedBytes));
  bytes.writeUInt32LE(magic, 0);
  bytes.writeUInt32LE(0, 4);
  bytes.writeDoubleLE(expires, 8);
  bytes.writeUInt32LE(body.length, 16);
  let at = fixedBytes;
  for (const [index, length] of lengths.entries()) {
    bytes.writeUInt32LE(length, 20 + index * 4);
    at += bytes.write(texts[index] as string, at);
  }
  if (checksum) bytes.writeUInt32LE(computeChecksum(bytes, body), 4);
  return bytes;
}

/** Null: not an entry, or an incomplete one. */
export function decodeEntry(meta: Buffer, body: Buffer, checksum: boolean): StoredEntry | null {
  if (meta.length < fixedBytes || meta.readUInt32LE(0) !== magic || meta.readUInt32LE(16) !== body.length) return null;
  if (checksum && meta.readUInt32LE(4) !== computeChecksum(meta, body)) return null;
  const expires = meta.readDoubleLE(8);
  const headEnd = fixedBytes + meta.readUInt32LE(20);
  const urlEnd = headEnd + meta.readUInt32LE(24);
  const end = urlEnd + meta.readUInt32LE(28);
  if (end !== meta.length || Number.isNaN(expires)) return null;
  return {
    head: meta.toString('utf8', fixedBytes, headEnd),
    body,
    expires,
    tags: decodeTags(meta, urlEnd),
    url: meta.toString('utf8', headEnd, urlEnd),
  };
}

/** What purges compare with, from the result of `encodeMeta`. */
export function readLabels(meta: Buffer): { readonly tags: readonly string[]; readonly url: string } {
  const headEnd = fixedBytes + meta.readUInt32LE(20);
  const urlEnd = headEnd + meta.readUInt32LE(24);
  return { tags: decodeTags(meta, urlEnd), url: meta.toString('utf8', headEnd, urlEnd) };
}

/** A copy of the checksum in the result of `encodeMeta`. */
export function checksumOf(meta: Buffer): Uint8Array {
  return new Uint8Array(meta.subarray(4, 8));
}

/** Tags are separated by NUL, which no header value contains. */
export function tagText(tags: readonly string[]): string {
  return tags.length === 0 ? '' : `\0${tags.join('\0')}\0`;
}

function decodeTags(meta: Buffer, from: number): readonly string[] {
  return from === meta.length ? [] : meta.toString('utf8', from + 1, meta.length - 1).split('\0');
}

function computeChecksum(meta: Buffer, body: Uint8Array): number {
  return crc32(body, crc32(meta.subarray(8)));
}
