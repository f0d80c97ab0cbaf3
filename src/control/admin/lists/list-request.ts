import type { Query } from '../http/query.ts';
import { type Cursor, decodeCursor } from './cursor-token.ts';
import { invalidCursor, invalidOptions, invalidSize } from './list-errors.ts';

/**
 * How a client pages through a list. The parameters determine which of the four styles applies:
 *
 * - `kong`: nothing, `size` or `offset`;
 * - `cursor`: `limit` or `cursor`;
 * - `page`: `page`, with `limit` or `size`;
 * - `time`: `before`, with `limit` or `size`.
 */
export type ListRequest =
  | {
      readonly style: 'kong' | 'cursor';
      readonly limit: number;
      readonly cursor: Cursor | null;
      readonly sizeGiven: boolean;
    }
  | {
      readonly style: 'page';
      readonly limit: number;
      readonly page: number;
      readonly sizeName: 'limit' | 'size' | null;
    }
  | { readonly style: 'time'; readonly limit: number; readonly before: Before };

/** Where paging back in time starts. */
export type Before =
  | { readonly kind: 'instant'; readonly milliseconds: number }
  | { readonly kind: 'item'; readonly id: string }
  | { readonly kind: 'cursor'; readonly cursor: Cursor };

export const defaultLimit = 100;
export const maxLimit = 1000;
/** Keeps `(page - 1) * limit` an exact integer; reading past the end costs no more than reading to it. */
export const maxPage = 2_147_483_647;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** A date, or a date and a time with a zone (RFC 3339, which every ISO 8601 writer can produce). */
const timestamp = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i;

export function readListRequest(query: Query): ListRequest {
  const size = single(query, 'size');
  const limit = single(query, 'limit');
  const offset = single(query, 'offset');
  const cursor = single(query, 'cursor');
  const page = single(query, 'page');
  const before = single(query, 'before');
  refuseTogether({ size, limit });
  refuseTogether({ offset, cursor, page });
  refuseTogether({ page, before });
  refuseTogether({ offset, before });

  const count = readCount(size, limit);
  if (page !== undefined) {
    const sizeName = limit !== undefined ? 'limit' : size !== undefined ? 'size' : null;
    return { style: 'page', limit: count, page: readPage(page), sizeName };
  }
  const resumed = readCursor(offset, cursor);
  if (before !== undefined) {
    const start = readBefore(before);
    if (resumed === null) return { style: 'time', limit: count, before: start };
    if (resumed.direction !== 'desc') {
      throw invalidOptions({ cursor: "belongs to a walk forwards and cannot be used together with 'before'" });
    }
  }
  const style = limit === undefined && cursor === undefined ? 'kong' : 'cursor';
  return { style, limit: count, cursor: resumed, sizeGiven: size !== undefined };
}

function single(query: Query, name: string): string | undefined {
  const values = query.all(name);
  if (values.length <= 1) return values[0];
  if (name === 'size' || name === 'limit') throw invalidSize(`${name} must be a number`);
  throw invalidOptions({ [name]: 'must be given once' });
}

function refuseTogether(parameters: Readonly<Record<string, string | undefined>>): void {
  const given = Object.keys(parameters).filter((name) => parameters[name] !== undefined);
  if (given.length < 2) return;
  const options: Record<string, string> = {};
  for (const name of given) {
    const others = given.filter((other) => other !== name).map((other) => `'${other}'`);
    options[name] = `cannot be used together with ${others.join(' and ')}`;
  }
  throw invalidOptions(options);
}

function readCount(size: string | undefined, limit: string | undefined): number {
  const name = limit !== undefined ? 'limit' : 'size';
  const text = limit ?? size;
  if (text === undefined) return defaultLimit;
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw invalidSize(`${name} must be a number`);
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > maxLimit) throw invalidSize(`${name} must be an integer between 1 and ${maxLimit}`);
  return value;
}

function readPage(text: string): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > maxPage) throw invalidOptions({ page: `must be an integer between 1 and ${maxPage}` });
  return value;
}

function readCursor(offset: string | undefined, cursor: string | undefined): Cursor | null {
  const token = offset ?? cursor;
  if (token === undefined) return null;
  const decoded = decodeCursor(token);
  if (typeof decoded === 'string') throw invalidCursor(offset !== undefined ? 'offset' : 'cursor', token, decoded);
  return decoded;
}

function readBefore(text: string): Before {
  if (uuid.test(text)) return { kind: 'item', id: text.toLowerCase() };
  const instant = readInstant(text);
  if (instant !== null) return { kind: 'instant', milliseconds: instant };
  const decoded = decodeCursor(text);
  if (typeof decoded !== 'string' && decoded.direction === 'desc') return { kind: 'cursor', cursor: decoded };
  throw invalidOptions({ before: 'must be an ISO 8601 timestamp or the id of an item' });
}

/**
 * Milliseconds since the epoch of an ISO 8601 timestamp in a query, or null when it is not one. Rows have whole milliseconds, so a
 * finer instant is rounded up: rows of that millisecond are before it.
 */
export function readInstant(given: string): number | null {
  // In a query `+` is a space; a zone written `+02:00` without escaping arrives so.
  const text = given.replace(/ (?=\d{2}:?\d{2}$)/, (space, at: number) => (at > 10 ? '+' : space));
  if (!timestamp.test(text)) return null;
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const finer = /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  let normal = text
    .replace(' ', 'T')
    .replace(/\.\d+/, fraction === '' ? '' : `.${fraction.slice(0, 3).padEnd(3, '0')}`);
  if (normal.length > 10 && !/(?:Z|[+-]\d{2}:?\d{2})$/i.test(normal)) normal += 'Z';
  const milliseconds = Date.parse(normal.replace(/([+-]\d{2})(\d{2})$/, '$1:$2').toUpperCase());
  if (Number.isNaN(milliseconds) || !sameDay(normal)) return null;
  return milliseconds + finer;
}

/** `Date.parse` reads the 31st of February as the 3rd of March; that is an error of the client. */
function sameDay(text: string): boolean {
  const day = text.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
}
