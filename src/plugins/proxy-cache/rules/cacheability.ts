import type { HeaderBlock } from '../../../plugin-sdk/index.ts';
import { type CacheControl, parseCacheControl } from './cache-control.ts';
import { freshnessLifetime, initialAge, type ResponseTerms } from './freshness.ts';
import { filterHeaders, firstHeader, headerList, headerNames, headerValues } from './header-fields.ts';
import type { CachePolicy } from './policy.ts';

/** A response of the backend, and what matters to the cache of its request. Times are milliseconds since the epoch. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: HeaderBlock;
  /** The request has an `Authorization`. */
  readonly authorized: boolean;
  /** The gateway has authenticated the client: the key contains its identity. */
  readonly identified: boolean;
  readonly requestTime: number;
  readonly responseTime: number;
}

export interface StorageTerms extends ResponseTerms {
  /** Lower-case names of the request headers that select the response, sorted. */
  readonly vary: readonly string[];
  /** Milliseconds since the epoch until which it is kept. */
  readonly expires: number;
}

/** Each name is looked up for each request. */
const maxVaryNames = 16;

/** Further tags of a response are ignored. */
const maxTags = 256;

/** Seconds for which a response with a validator is kept at least after it has become stale. */
const minValidationTime = 60;

const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Whether and how a shared cache may store a response (RFC 9111 3); null: it may not. */
export function storageTerms(received: ReceivedResponse, policy: CachePolicy): StorageTerms | null {
  const { status, headers } = received;
  if (!policy.statuses.has(status) || status < 200 || status === 206 || status === 304) return null;
  const type = firstHeader(headers, 'content-type');
  if (!policy.acceptsContentType(type) || streamingTypes.test(type ?? '')) return null;
  if (firstHeader(headers, 'content-range') !== null) return null;
  if (policy.cookies === 'bypass' && setsCookies(headers)) return null;
  const control = parseCacheControl(headerList(headers, 'cache-control'));
  if (isForbidden(control, received, policy)) return null;
  const vary = varyNames(headers);
  if (vary === null) return null;
  const lifetime = policy.honoursCacheControl
    ? lifetimeFromHeaders(control, received, policy)
    : lifetimeFromPolicy(control, policy);
  if (lifetime === null) return null;
  const expires = expiryTime(lifetime, received, policy);
  return expires <= received.responseTime ? null : { ...lifetime, isPublic: control.isPublic, vary, expires };
}

function isForbidden(
  control: CacheControl,
  { status, authorized, identified }: ReceivedResponse,
  policy: CachePolicy,
): boolean {
  if (control.noStore && (policy.honoursCacheControl || !policy.ignoresNoStore)) return true;
  // Without `cache_control` a private response may be stored for its client: the key contains the identity.
  if (control.isPrivate && (policy.honoursCacheControl || !identified)) return true;
  if (control.mustUnderstand && !understoodStatuses.has(status)) return true;
  if (!authorized || identified) return false;
  // RFC 9111 3.5
  return !(control.isPublic || control.sMaxAge >= 0 || control.mustRevalidateItself);
}

/** Statuses whose caching rules the cache follows (RFC 9111 5.2.2.3): those of RFC 9110 and some later ones. */
const understoodStatuses: ReadonlySet<number> = new Set([
  ...[200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 425, 426],
  ...[428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 511],
]);

/** Streams without an end: no other request may wait for one. */
const streamingTypes = /^(?:text\/event-stream|application\/grpc)/i;

function setsCookies(headers: HeaderBlock): boolean {
  return cookieFields.some((name) => firstHeader(headers, name) !== null);
}

const cookieFields = ['set-cookie', 'set-cookie2'];

type Lifetime = Omit<ResponseTerms, 'isPublic'>;

/** As the response states it. Null: it states none, and there are no heuristics. */
function lifetimeFromHeaders(
  control: CacheControl,
  { headers, requestTime, responseTime }: ReceivedResponse,
  policy: CachePolicy,
): Lifetime | null {
  const stated = freshnessLifetime(headers, control, responseTime);
  if (control.noCache ? !hasValidator(headers) : stated < 0) return null;
  const neverStale = control.mustRevalidate || control.noCache || control.sMaxAge >= 0;
  const whileRevalidate = control.staleWhileRevalidate;
  const ifError = control.staleIfError;
  return {
    alwaysValidate: control.noCache,
    neverStale,
    freshnessLifetime: Math.max(0, stated),
    initialAge: initialAge(headers, requestTime, responseTime),
    staleWhileRevalidate: neverStale ? 0 : whileRevalidate >= 0 ? whileRevalidate : policy.staleWhileRevalidate,
    staleIfError: neverStale ? 0 : ifError >= 0 ? ifError : policy.staleIfError,
  };
}

/** As the operator configured it; `must-revalidate` of the response still applies. */
function lifetimeFromPolicy(control: CacheControl, policy: CachePolicy): Lifetime {
  const neverStale = control.mustRevalidate;
  return {
    alwaysValidate: false,
    neverStale,
    freshnessLifetime: policy.ttl,
    initialAge: 0,
    staleWhileRevalidate: neverStale ? 0 : policy.staleWhileRevalidate,
    staleIfError: neverStale ? 0 : policy.staleIfError,
  };
}

function expiryTime(lifetime: Lifetime, { headers, responseTime }: ReceivedResponse, policy: CachePolicy): number {
  const fresh = Math.max(0, lifetime.freshnessLifetime - lifetime.initialAge);
  const stale = Math.max(lifetime.staleWhileRevalidate, lifetime.staleIfError);
  const validation = hasValidator(headers) ? Math.max(minValidationTime, lifetime.freshnessLifetime) : 0;
  const kept = policy.storageTtl >= 0 ? policy.storageTtl : fresh + Math.max(stale, validation);
  return Math.ceil(responseTime + kept * 1000);
}

function hasValidator(headers: HeaderBlock): boolean {
  return firstHeader(headers, 'etag') !== null || firstHeader(headers, 'last-modified') !== null;
}

/** Null: it is not known which requests the response is for. */
function varyNames(headers: HeaderBlock): readonly string[] | null {
  const list = headerList(headers, 'vary');
  // Many backends omit this; clients that do not support the content coding would get it.
  const implied = firstHeader(headers, 'content-encoding') === null ? [] : impliedByContentEncoding;
  if (list === null) return implied;
  const names = new Set<string>(implied);
  for (const member of list.split(',')) {
    const name = member.trim().toLowerCase();
    if (name === '') continue;
    if (name === '*' || !token.test(name)) return null;
    names.add(name);
    if (names.size > maxVaryNames) return null;
  }
  return [...names].sort();
}

const impliedByContentEncoding: readonly string[] = ['accept-encoding'];

/** Tags of a response, without duplicates. */
export function tagsOf(headers: HeaderBlock, policy: CachePolicy): readonly string[] {
  const tags = new Set<string>();
  for (const name of policy.tagHeaders) {
    for (const line of headerValues(headers, name)) {
      for (const tag of line.split(/[\s,]+/)) if (tag !== '' && tags.size < maxTags) tags.add(tag);
    }
  }
  return [...tags];
}

/** Fields that belong to one connection or one client, or that the cache writes itself (RFC 9111 3.1). */
const fieldsNotStored: ReadonlySet<string> = new Set([
  'age',
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-cache-key',
  'x-cache-status',
]);

/** The headers that are stored. `Date` is added if the backend does not send one (RFC 9110 6.6.1). */
export function storedHeaders(headers: HeaderBlock, policy: CachePolicy, now: number): HeaderBlock {
  const hidden = policy.passesTags ? [] : policy.tagHeaders;
  const cookies = policy.cookies === 'store';
  const kept = filterHeaders(
    headers,
    (name) => !fieldsNotStored.has(name) && !hidden.includes(name) && (cookies || !cookieFields.includes(name)),
  );
  return withDate(kept, now);
}

/** Fields that a 304 never changes in the stored response (RFC 9111 3.2). */
const fieldsNotUpdated: ReadonlySet<string> = new Set([
  ...fieldsNotStored,
  'content-encoding',
  'content-md5',
  'content-range',
  'etag',
]);

/**
 * The stored headers, updated with those of the 304 that validated them (RFC 9111 3.2): without its cookies, unless
 * cookies are stored.
 */
export function updatedHeaders(
  stored: HeaderBlock,
  notModified: HeaderBlock,
  cookies: CachePolicy['cookies'],
  now: number,
): HeaderBlock {
  const keepCookies = cookies === 'store';
  const changed = withDate(
    filterHeaders(notModified, (name) => !fieldsNotUpdated.has(name) && (keepCookies || !cookieFields.includes(name))),
    now,
  );
  const replaced = headerNames(changed);
  return filterHeaders(stored, (name) => !replaced.has(name)) + changed;
}

function withDate(headers: HeaderBlock, now: number): HeaderBlock {
  return firstHeader(headers, 'date') === null ? `${headers}Date: ${new Date(now).toUTCString()}\r\n` : headers;
}
