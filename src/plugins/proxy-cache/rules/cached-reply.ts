import { backendReply, type HeaderBlock, type Reply } from '../../../plugin-sdk/index.ts';
import { currentAge, type StoredResponse } from './freshness.ts';
import { filterHeaders, firstHeader, headerList, parseHttpDate } from './header-fields.ts';
import type { CachePolicy } from './policy.ts';

/** Shown to clients as `X-Cache-Status`. */
export type CacheStatus = 'Miss' | 'Hit' | 'Refresh' | 'Bypass';

/** A stored response and the key that it was found at. */
export interface Selected {
  readonly key: string;
  readonly entry: { readonly body: Uint8Array };
  readonly response: StoredResponse;
}

/** The conditional and range headers of a request, which few requests have. */
export interface RequestConditions {
  readonly headers: HeaderBlock;
  readonly method: string;
}

/** Headers made for hits within the same second. */
interface HitHeaders {
  readonly age: number;
  readonly key: string;
  readonly text: HeaderBlock;
}

/** Makes replies to clients from stored responses. */
export class CachedReplies {
  readonly #policy: CachePolicy;
  readonly #hitHeaders = new WeakMap<StoredResponse, HitHeaders>();

  constructor(policy: CachePolicy) {
    this.#policy = policy;
  }

  /** `now`: milliseconds since the epoch. `conditions`: null for an unconditional request. */
  reply(
    { key, entry, response }: Selected,
    status: CacheStatus,
    now: number,
    conditions: RequestConditions | null,
  ): Reply {
    const headers = this.#headers(response, key, status, now);
    if (conditions !== null && response.status === 200) {
      const conditional = conditionalReply(entry.body, response.headers, headers, conditions, now);
      if (conditional !== null) return conditional;
    }
    return backendReply({ status: response.status, headers, body: entry.body, fresh: false });
  }

  #headers(response: StoredResponse, key: string, status: CacheStatus, now: number): HeaderBlock {
    const age = Math.floor(Math.min(currentAge(response, now), 2 ** 31));
    if (status !== 'Hit') return response.headers + this.#cacheHeaders(age, key, status);
    const known = this.#hitHeaders.get(response);
    if (known !== undefined && known.age === age && known.key === key) return known.text;
    const text = response.headers + this.#cacheHeaders(age, key, status);
    this.#hitHeaders.set(response, { age, key, text });
    return text;
  }

  #cacheHeaders(age: number, key: string, status: CacheStatus): string {
    let headers = this.#policy.showsAge ? `Age: ${age}\r\n` : '';
    if (this.#policy.showsStatus) headers += `X-Cache-Status: ${status}\r\n`;
    if (this.#policy.showsKey) headers += `X-Cache-Key: ${key}\r\n`;
    return headers;
  }
}

/** A 304, 206 or 416 if the conditions lead to one (RFC 9110 13.2.2); null: the whole response. */
function conditionalReply(
  body: Uint8Array,
  stored: HeaderBlock,
  reply: HeaderBlock,
  { headers: request, method }: RequestConditions,
  now: number,
): Reply | null {
  if (method !== 'GET' && method !== 'HEAD') return null;
  if (isNotModified(request, stored, now)) {
    return backendReply({ status: 304, headers: notModifiedHeaders(reply), fresh: false });
  }
  const range = method === 'GET' ? firstHeader(request, 'range') : null;
  if (range === null || !ifRangeHolds(request, stored, now)) return null;
  const part = parseRange(range, body.byteLength);
  if (part === null) return null;
  if (part === 'unsatisfiable') {
    const kept = filterHeaders(reply, (name) => !name.startsWith('content-'));
    const headers = `${kept}Content-Range: bytes */${body.byteLength}\r\n`;
    return backendReply({ status: 416, headers, fresh: false });
  }
  const headers = `${reply}Content-Range: bytes ${part.first}-${part.last}/${body.byteLength}\r\n`;
  return backendReply({ status: 206, headers, body: body.subarray(part.first, part.last + 1), fresh: false });
}

/**
 * Whether the client already has the stored response (RFC 9110 13.2.2).
 * `If-Modified-Since` counts only without `If-None-Match`.
 */
export function isNotModified(request: HeaderBlock, stored: HeaderBlock, now: number): boolean {
  const tags = headerList(request, 'if-none-match');
  if (tags !== null) return matchesAny(tags, firstHeader(stored, 'etag'));
  const since = firstHeader(request, 'if-modified-since');
  if (since === null) return false;
  const limit = parseHttpDate(since, now);
  const modified = firstHeader(stored, 'last-modified') ?? firstHeader(stored, 'date');
  const changed = modified === null ? null : parseHttpDate(modified, now);
  return limit !== null && changed !== null && changed <= limit;
}

/** Whether `Range` applies: `If-Range` is absent, or matches the stored representation (RFC 9110 13.1.5). */
export function ifRangeHolds(request: HeaderBlock, stored: HeaderBlock, now: number): boolean {
  const condition = firstHeader(request, 'if-range');
  if (condition === null) return true;
  if (condition.startsWith('"')) return condition === firstHeader(stored, 'etag');
  const modified = firstHeader(stored, 'last-modified');
  const date = firstHeader(stored, 'date');
  if (modified === null || date === null || modified !== condition) return false;
  // A date is a strong validator only if nothing can have changed within the same second (RFC 9110 8.8.2.2).
  const [changed, sent] = [parseHttpDate(modified, now), parseHttpDate(date, now)];
  return changed !== null && sent !== null && sent - changed >= 1000;
}

/** The headers of a 304: without those that describe the missing body (RFC 9110 15.4.5). */
export function notModifiedHeaders(headers: HeaderBlock): HeaderBlock {
  return filterHeaders(headers, (name) => !name.startsWith('content-') || name === 'content-location');
}

const entityTag = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"|\*|[^\s,]+/g;

function matchesAny(list: string, tag: string | null): boolean {
  if (list.trim() === '*') return true;
  if (tag === null) return false;
  const wanted = opaqueTag(tag);
  return list.match(entityTag)?.some((one) => opaqueTag(one) === wanted) ?? false;
}

/** `If-None-Match` compares weakly (RFC 9110 8.8.3.2). */
function opaqueTag(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

/** The part of a body that a `Range` selects; null: the whole body is sent. */
type BodyRange = { readonly first: number; readonly last: number } | 'unsatisfiable' | null;

const singleRange = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * Parses a `Range` with one part (RFC 9110 14.1.2). Several parts, another unit and malformed ranges get the whole body,
 * which a server may always send.
 */
export function parseRange(range: string, length: number): BodyRange {
  const match = singleRange.exec(range);
  if (match === null) return null;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return null;
  if (from === '') return suffixRange(Number(to), length);
  const first = Number(from);
  const last = to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== '' && Number(to) < first) return null;
  return first >= length ? 'unsatisfiable' : { first, last };
}

function suffixRange(wanted: number, length: number): BodyRange {
  if (wanted === 0 || length === 0) return 'unsatisfiable';
  return { first: Math.max(0, length - wanted), last: length - 1 };
}
