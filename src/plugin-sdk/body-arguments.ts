import { isUtf8 } from 'node:buffer';
import { jsonMembers } from '../util/json-members.ts';
import { type MultipartPart, multipartParts } from '../util/multipart.ts';

/** Values by name, in the order of the body. */
export type BodyArguments = ReadonlyMap<string, readonly string[]>;

/** A named value of a body. */
interface Field {
  readonly name: string;
  /** Null for what is no text: a file, a nested value. */
  readonly value: string | null;
}

interface Format {
  /** Null when the body is malformed. */
  fields(body: Buffer): readonly Field[] | null;
  /** The body without the fields at these positions; all other bytes stay. */
  without(body: Buffer, gone: ReadonlySet<number>): Buffer;
}

const mostArguments = 1000;

/**
 * The named values of a request body: of a form (`application/x-www-form-urlencoded`, `multipart/form-data`, files left
 * out) or of a JSON object (its strings, numbers and booleans; nested values are left out). A name that occurs twice has
 * two values, in JSON too. Null when the body is of another type, malformed, or has more than 1000 fields.
 */
export function bodyArguments(contentType: string | null, body: Uint8Array): BodyArguments | null {
  const fields = formatOf(contentType)?.fields(asBuffer(body)) ?? null;
  if (fields === null) return null;
  const found = new Map<string, string[]>();
  for (const { name, value } of fields) {
    if (value === null) continue;
    const known = found.get(name);
    if (known === undefined) found.set(name, [value]);
    else known.push(value);
  }
  return found;
}

/**
 * The body without the fields of these names, every other byte as it was. The same object when it has none of them, or
 * is not one that `bodyArguments` reads.
 */
export function withoutBodyArguments(
  contentType: string | null,
  body: Uint8Array,
  names: ReadonlySet<string>,
): Uint8Array {
  const format = formatOf(contentType);
  const bytes = asBuffer(body);
  const gone = new Set<number>();
  for (const [at, { name }] of (format?.fields(bytes) ?? []).entries()) if (names.has(name)) gone.add(at);
  return format === null || gone.size === 0 ? body : format.without(bytes, gone);
}

/** True when `bodyArguments` may find something in a body of this type. */
export function hasBodyArguments(contentType: string | null): boolean {
  return formatOf(contentType) !== null;
}

function formatOf(contentType: string | null): Format | null {
  if (contentType === null) return null;
  const semicolon = contentType.indexOf(';');
  const type = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  if (type === 'application/json') return json;
  if (type === 'application/x-www-form-urlencoded') return urlencoded;
  if (type !== 'multipart/form-data') return null;
  const boundary = formBoundary(contentType);
  return boundary === null ? null : multipart(boundary);
}

const boundaryParameter = /;[ \t]*boundary=(?:"([^"\\]{1,70})"|([!#$%&'*+.^_`|~0-9A-Za-z-]{1,70}))[ \t]*(?=;|$)/gi;

/** The one boundary that a `Content-Type` names, of the characters of RFC 2046 5.1.1; null when there is none. */
export function formBoundary(contentType: string): string | null {
  const all = [...contentType.matchAll(boundaryParameter)];
  const boundary = all[0]?.[1] ?? all[0]?.[2];
  if (all.length !== 1 || boundary === undefined) return null;
  return /^[0-9A-Za-z'()+_,./:=? -]*[0-9A-Za-z'()+_,./:=?-]$/.test(boundary) ? boundary : null;
}

const urlencoded: Format = {
  fields(body) {
    if (body.length === 0) return [];
    const pairs = body.toString('latin1').split('&', mostArguments + 1);
    return pairs.length > mostArguments ? null : pairs.map(pairField);
  },
  without(body, gone) {
    const pairs = body.toString('latin1').split('&');
    return Buffer.from(pairs.filter((_, at) => !gone.has(at)).join('&'), 'latin1');
  },
};

function pairField(pair: string): Field {
  const equals = pair.indexOf('=');
  if (pair === '') return { name: '', value: null };
  if (equals < 0) return { name: decodeArgument(pair), value: '' };
  return { name: decodeArgument(pair.slice(0, equals)), value: decodeArgument(pair.slice(equals + 1)) };
}

const encoded = /[%+\x80-\xff]/;

/**
 * A name or value of a form or query. An escape that is none stays as it is; bytes that are not UTF-8 become U+FFFD. `text` has one
 * char for each byte.
 */
export function decodeArgument(text: string): string {
  if (!encoded.test(text)) return text;
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

const json: Format = {
  fields(body) {
    if (!isUtf8(body) || !parses(body.toString('utf8'))) return null;
    const text = body.toString('latin1');
    const members = jsonMembers(text);
    if (members === null || members.length > mostArguments) return null;
    return members.map(({ nameStart, nameEnd, valueStart, valueEnd }) => ({
      name: parsePiece(text.slice(nameStart, nameEnd)) as string,
      value: scalarText(text.slice(valueStart, valueEnd)),
    }));
  },
  without(body, gone) {
    const text = body.toString('latin1');
    const kept = (jsonMembers(text) ?? []).filter((_, at) => !gone.has(at));
    const pieces = kept.map(({ nameStart, valueEnd }) => text.slice(nameStart, valueEnd));
    return Buffer.from(`{${pieces.join(',')}}`, 'latin1');
  },
};

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parsePiece(latin1: string): unknown {
  return JSON.parse(Buffer.from(latin1, 'latin1').toString('utf8'));
}

/** A number keeps the digits that it was written with. */
function scalarText(piece: string): string | null {
  const first = piece[0];
  if (first === '{' || first === '[' || piece === 'null') return null;
  return first === '"' ? (parsePiece(piece) as string) : piece;
}

function multipart(boundary: string): Format {
  return {
    fields(body) {
      const parts = multipartParts(body, boundary);
      return parts === null ? null : parts.map((part) => partField(body, part));
    },
    without(body, gone) {
      const parts = multipartParts(body, boundary) ?? [];
      const last = parts.at(-1);
      if (last === undefined) return body;
      const end = last.contentEnd + 2;
      const pieces = parts.map(({ start }, at) => body.subarray(start, parts[at + 1]?.start ?? end));
      return Buffer.concat([...pieces.filter((_, at) => !gone.has(at)), body.subarray(end)]);
    },
  };
}

function partField(body: Buffer, { name, file, contentStart, contentEnd }: MultipartPart): Field {
  return { name, value: file ? null : body.toString('utf8', contentStart, contentEnd) };
}

function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
