import { isAscii, isUtf8 } from 'node:buffer';
import { mediaType } from '../http/media-type.ts';
import { BodySyntaxError, positionIn } from '../json/body-syntax-error.ts';
import { XmlEncodingError } from './xml-errors.ts';

type Encoding = 'utf-8' | 'utf-16' | 'iso-8859-1' | 'us-ascii';

const names: ReadonlyMap<string, Encoding> = new Map<string, Encoding>([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['utf-16', 'utf-16'],
  ['iso-8859-1', 'iso-8859-1'],
  ['iso8859-1', 'iso-8859-1'],
  ['latin1', 'iso-8859-1'],
  ['us-ascii', 'us-ascii'],
  ['ascii', 'us-ascii'],
]);

/**
 * Decodes a document by its byte order mark, the charset parameter of its `Content-Type`, its declaration, or UTF-8, in this
 * order (RFC 7303 3.2). A mark that contradicts the parameter or, without a parameter, the declaration, is refused. Throws an `XmlEncodingError` for any
 * other encoding, a `BodySyntaxError` for bytes that are not valid in it.
 */
export function decodeXml(body: Uint8Array, contentType: string | null): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const charset = contentType === null ? null : (mediaType(contentType)?.charset ?? null);
  const stated = charset === null ? null : known(charset);
  const marked = markOf(bytes);
  if (marked !== null) {
    const encoding = marked === 'utf-8' ? 'utf-8' : 'utf-16';
    if (stated !== null && stated !== encoding)
      throw new XmlEncodingError('the byte order mark contradicts the charset');
    const text = marked === 'utf-8' ? utf8(bytes.subarray(3)) : utf16(bytes.subarray(2), marked);
    if (stated === null && (declaredIn(text.slice(0, 256)) ?? encoding) !== encoding)
      throw new XmlEncodingError('the byte order mark contradicts the declaration');
    return text;
  }
  const encoding = stated ?? declaredIn(bytes.toString('latin1', 0, 256)) ?? 'utf-8';
  if (encoding === 'utf-8') return utf8(bytes);
  if (encoding === 'iso-8859-1') return bytes.toString('latin1');
  if (encoding === 'us-ascii') return ascii(bytes);
  throw new XmlEncodingError('UTF-16 needs a byte order mark');
}

function known(name: string): Encoding {
  const encoding = names.get(name);
  if (encoding === undefined) throw new XmlEncodingError('the encoding is not supported');
  return encoding;
}

function markOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

const declaration = /^<\?xml\s[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{0,40})["']/;

function declaredIn(start: string): Encoding | null {
  const name = declaration.exec(start)?.[1];
  return name === undefined ? null : known(name.toLowerCase());
}

function utf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new BodySyntaxError('XML', 'bytes that are not UTF-8', whereUtf8Ends(bytes));
  return bytes.toString('utf8');
}

function utf16(bytes: Buffer, label: string): string {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    throw new BodySyntaxError('XML', 'bytes that are not UTF-16', null);
  }
}

function ascii(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  if (isAscii(bytes)) return text;
  throw new BodySyntaxError('XML', 'bytes that are not US-ASCII', positionIn(text, text.search(/[\x80-\xff]/)));
}

/** Offset of the invalid bytes: the first replacement character that the text does not contain itself. */
function whereUtf8Ends(bytes: Buffer): { readonly line: number; readonly column: number } {
  let low = 0;
  let high = bytes.byteLength;
  // The longest valid UTF-8 prefix, except for up to three bytes of a character that the search cuts.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isUtf8(bytes.subarray(0, characterEnd(bytes, middle)))) low = middle;
    else high = middle - 1;
  }
  const text = bytes.toString('utf8', 0, low);
  return positionIn(text, text.length);
}

/** Not in the middle of a character. */
function characterEnd(bytes: Buffer, at: number): number {
  let end = at;
  while (end < bytes.byteLength && end - at < 3 && ((bytes[end] as number) & 0xc0) === 0x80) end++;
  return end;
}
