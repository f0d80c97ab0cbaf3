import { jsonMembers } from '../../shared/util/bytes/json-members.ts';
import { type MultipartPart, multipartParts } from '../../shared/util/bytes/multipart.ts';
import { decodeFormText } from '../../shared/util/bytes/percent-decoding.ts';

/** Values by name, in the order of the body. */
export type BodyArguments = ReadonlyMap<string, readonly string[]>;

/** A named value of a body. */
interface Field {
  readonly name: string;
  /** Null for what is no text: a file, a nested value. */
  readonly value: string | null;
}

interface Format {
  /** Null when the body is malformed. Fields of other names than `names` (null: all) may have neither name nor value. */
  fields(body: Buffer, names: ReadonlySet<string> | null): readonly Field[] | null;
  /** The body without the fields at these positions; all other bytes stay. */
  without(body: Buffer, gone: ReadonlySet<number>): Buffer;
}

const maxArguments = 1000;
const jsonLimits = { depth: 1000, members: maxArguments };

/**
 * The named values of a request body: of a form (`application/x-www-form-urlencoded`, or `multipart/form-data` without files) or of
 * a JSON object (strings, numbers and booleans; not nested values). A name that occurs twice has two values, in JSON too. Null: the
 * body has another type, is malformed, has more than 1000 fields, or more than 1000 levels. `names`: only these, which is faster.
 */
export function bodyArguments(
  contentType: string | null,
  body: Uint8Array,
  names: ReadonlySet<string> | null = null,
): BodyArguments | null {
  const fields = formatOf(contentType)?.fields(asBuffer(body), names) ?? null;
  if (fields === null) return null;
  const found = new Map<string, string[]>();
  for (const { name, value } of fields) {
    if (value === null || names?.has(name) === false) continue;
    const known = found.get(name);
    if (known === undefined) found.set(name, [value]);
    else known.push(value);
  }
  return found;
}

/**
 * The body without the fields of these names, otherwise unchanged. The same object if it has none of them, is empty, or has a type
 * that `bodyArguments` does not read. Null: it is malformed. A more lenient backend may still find the fields, so refuse the request.
 */
export function withoutBodyArguments(
  contentType: string | null,
  body: Uint8Array,
  names: ReadonlySet<string>,
): Uint8Array | null {
  const format = formatOf(contentType);
  if (format === null || body.byteLength === 0) return body;
  const bytes = asBuffer(body);
  const fields = format.fields(bytes, names);
  if (fields === null) return null;
  const gone = new Set<number>();
  for (const [at, { name }] of fields.entries()) if (names.has(name)) gone.add(at);
  return gone.size === 0 ? body : format.without(bytes, gone);
}

/** True for a type that `bodyArguments` reads. */
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
  return boundary === null ? unreadable : multipart(boundary);
}

/** A malformed form. */
const unreadable: Format = { fields: () => null, without: (body) => body };

const boundaryParameter = /;[ \t]*boundary=(?:"([^"\\]{1,70})"|([!#$%&'*+.^_`|~0-9A-Za-z-]{1,70}))[ \t]*(?=;|$)/gi;

/** The boundary of a `Content-Type` (RFC 2046 5.1.1); null: there is none, or more than one. */
export function formBoundary(contentType: string): string | null {
  const all = [...contentType.matchAll(boundaryParameter)];
  const boundary = all[0]?.[1] ?? all[0]?.[2];
  if (all.length !== 1 || boundary === undefined) return null;
  return /^[0-9A-Za-z'()+_,./:=? -]*[0-9A-Za-z'()+_,./:=?-]$/.test(boundary) ? boundary : null;
}

const urlencoded: Format = {
  fields(body, names) {
    if (body.length === 0) return [];
    const pairs = body.toString('latin1').split('&', maxArguments + 1);
    if (pairs.length > maxArguments) return null;
    const longest = names === null ? Number.POSITIVE_INFINITY : maxEncodedLength(names);
    return pairs.map((pair) => pairField(pair, names, longest));
  },
  without(body, gone) {
    const pairs = body.toString('latin1').split('&');
    return Buffer.from(pairs.filter((_, at) => !gone.has(at)).join('&'), 'latin1');
  },
};

/** Bytes of the longest of the names, with each of its bytes escaped. */
function maxEncodedLength(names: ReadonlySet<string>): number {
  let longest = 0;
  for (const name of names) longest = Math.max(longest, 3 * Buffer.byteLength(name));
  return longest;
}

function pairField(pair: string, names: ReadonlySet<string> | null, longest: number): Field {
  const equals = pair.indexOf('=');
  const end = equals < 0 ? pair.length : equals;
  if (pair === '' || end > longest) return noField;
  const name = decodeFormText(pair.slice(0, end));
  if (names?.has(name) === false) return noField;
  return { name, value: equals < 0 ? '' : decodeFormText(pair.slice(equals + 1)) };
}

const noField: Field = Object.freeze({ name: '', value: null });

/**
 * Decodes a name or value of a form or query. An invalid escape stays unchanged; bytes that are not UTF-8 become U+FFFD. `text` has
 * one char per byte.
 */
export function decodeArgument(text: string): string {
  return decodeFormText(text);
}

const json: Format = {
  fields(body, names) {
    const members = jsonMembers(body, jsonLimits);
    if (members === null) return null;
    return members.map(({ nameStart, nameEnd, valueStart, valueEnd }) => {
      const name = JSON.parse(body.toString('utf8', nameStart, nameEnd)) as string;
      if (names?.has(name) === false) return noField;
      return { name, value: scalarText(body.toString('utf8', valueStart, valueEnd)) };
    });
  },
  without(body, gone) {
    const kept = (jsonMembers(body, jsonLimits) ?? []).filter((_, at) => !gone.has(at));
    const pieces = kept.map(({ nameStart, valueEnd }) => body.toString('latin1', nameStart, valueEnd));
    return Buffer.from(`{${pieces.join(',')}}`, 'latin1');
  },
};

/** A number keeps the digits that it was written with. */
function scalarText(piece: string): string | null {
  const first = piece[0];
  if (first === '{' || first === '[' || piece === 'null') return null;
  return first === '"' ? (JSON.parse(piece) as string) : piece;
}

function multipart(boundary: string): Format {
  return {
    fields(body, names) {
      const parts = multipartParts(body, boundary);
      return parts === null ? null : parts.map((part) => partField(body, part, names));
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

function partField(
  body: Buffer,
  { name, file, contentStart, contentEnd }: MultipartPart,
  names: ReadonlySet<string> | null,
): Field {
  return { name, value: file || names?.has(name) === false ? null : body.toString('utf8', contentStart, contentEnd) };
}

function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
