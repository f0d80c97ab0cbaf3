import { isAscii, isUtf8 } from 'node:buffer';
import { BodySyntaxError } from '../../../plugin-kit/json/index.ts';
import { UnreadableBody } from '../refusals.ts';

/** The bytes of a body that must be UTF-8, without its byte order mark. */
export function utf8Bytes(body: Uint8Array, format: string): Buffer {
  const bytes = bufferOf(body);
  if (!isUtf8(bytes)) throw new BodySyntaxError(format, 'it is not UTF-8', null);
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** A decoded text, and how to encode it. */
export interface CodedText {
  readonly text: string;
  encode(text: string): Uint8Array;
}

/**
 * Decodes UTF-8, US-ASCII and ISO-8859-1. A text without a charset that is not UTF-8 keeps its bytes beyond ASCII. Throws an
 * `UnreadableBody` for other charsets, whether declared or detected.
 */
export function codedText(body: Uint8Array, charset: string | null): CodedText {
  const bytes = bufferOf(body);
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff) || bytes.includes(0)) {
    throw new UnreadableBody('the text is in a charset that cannot be read');
  }
  const known = charset === null ? 'utf-8' : charsets.get(charset);
  if (known === undefined) throw new UnreadableBody('the text is in a charset that cannot be read');
  if (known === 'ascii' && !isAscii(bytes)) throw new UnreadableBody('the text is not in the charset that it names');
  if (known === 'utf-8' && isUtf8(bytes)) return { text: bytes.toString('utf8'), encode: (text) => Buffer.from(text) };
  if (known === 'utf-8' && charset !== null) throw new UnreadableBody('the text is not in the charset that it names');
  return { text: bytes.toString('latin1'), encode: (text) => Buffer.from(text, 'latin1') };
}

const charsets: ReadonlyMap<string, 'utf-8' | 'ascii' | 'latin1'> = new Map([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['us-ascii', 'ascii'],
  ['ascii', 'ascii'],
  ['iso-8859-1', 'latin1'],
  ['latin1', 'latin1'],
  ['windows-1252', 'latin1'],
]);

export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
