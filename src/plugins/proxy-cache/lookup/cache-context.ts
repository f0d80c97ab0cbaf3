import { hash } from 'node:crypto';
import { type AccessContext, type BaseContext, contextKey, type HeaderBlock } from '../../../plugin-sdk/index.ts';
import { type CacheControl, noDirectives, parseCacheControl } from '../rules/cache-control.ts';
import { type AddressKeys, addressOf, type CacheTarget, type HeaderValues, separator } from '../rules/cache-key.ts';
import type { CacheStatus, RequestConditions } from '../rules/cached-reply.ts';
import { firstHeader } from '../rules/header-fields.ts';
import type { CachePolicy } from '../rules/policy.ts';
import type { CachedResponse } from '../store/cache-store.ts';

/** What the cache has to know of a request. */
export interface CacheRequest {
  readonly target: CacheTarget;
  readonly control: CacheControl;
  /** Null: the request has no conditional or range headers. */
  readonly conditions: RequestConditions | null;
  readonly hasRange: boolean;
  /** It has an `Authorization`. */
  readonly authorized: boolean;
  /** `GET` or `HEAD`. */
  readonly isRetrieval: boolean;
}

/** The state of a request that is not answered from the cache at once. */
export class CacheContext {
  /** Null: the request bypasses the cache. */
  readonly request: CacheRequest | null;
  /** When the request was received, milliseconds since the epoch. */
  readonly receivedAt: number;
  /** When it is sent to the backend, milliseconds since the epoch. */
  requestTime: number;
  /** The same as `preciseNow()`. */
  sentAt = 0;
  status: CacheStatus;
  /** The headers that a backend may select its response by. */
  selectingHeaders: HeaderValues = noHeaders;
  /** Shown to the client; '' if there is none. */
  key = '';
  /** The response will be stored at `key`, unless its `Vary` has more names than the index. */
  indexed = false;
  /** A stored response that has to be validated. */
  stale: CachedResponse | null = null;
  /** `stale` may still be used: this request refreshes it. */
  refreshing = false;
  /** The request to the backend has the validators of `stale`: a 304 is for the cache. */
  validating = false;
  /** The key whose fetch lock this request holds; '' for none. */
  lockedKey = '';
  hitForMiss = false;
  /** The response already has the headers of the cache. */
  hasCacheHeaders = false;
  /** The request has ended. */
  ended = false;

  constructor(request: CacheRequest | null, receivedAt: number) {
    this.request = request;
    this.receivedAt = receivedAt;
    this.requestTime = receivedAt;
    this.status = request === null ? 'Bypass' : 'Miss';
  }
}

const noHeaders: HeaderValues = () => [];

export const cacheContextKey = contextKey<CacheContext>('proxy-cache');

/* One regular expression finds the rare headers; only if it matches, the others look for each of them. */
const rareHeaders = /^(?:cache-control|if-[a-z-]+|range|authorization):/im;
const conditionalHeaders = /^(?:if-(?:none-match|modified-since|range)|range):/im;
/** Preconditions that only the backend can evaluate (RFC 9111 4.3.2). */
const backendPreconditions = /^(?:if-match|if-unmodified-since):/im;
const authorizationHeader = /^authorization:/im;

/** Null: the request bypasses the cache. */
export function cacheRequest(
  context: AccessContext,
  keys: AddressKeys,
  policy: CachePolicy,
  body: Uint8Array | null,
): CacheRequest | null {
  const { request } = context;
  const { method } = request;
  const isRetrieval = method === 'GET' || method === 'HEAD';
  const headers = request.block();
  const hasRare = rareHeaders.test(headers);
  // The body of a GET has no meaning, but a response that depends on it must not be shared (RFC 9110 9.3.1).
  if (isRetrieval && request.bodyLength !== 0) return null;
  if (request.upgrade !== '' || (hasRare && backendPreconditions.test(headers))) return null;
  const control =
    hasRare && policy.honoursCacheControl
      ? parseCacheControl(request.headerValues('cache-control').join(', '))
      : noDirectives;
  if (control.noStore || control.noCache) return null;
  const authorized = hasRare && authorizationHeader.test(headers);
  const identity = identityOf(context, authorized);
  if (identity === null) return null;
  const conditions = hasRare && conditionalHeaders.test(headers) ? conditionsOf(context) : '';
  return {
    target: targetOf(context, keys, policy, identity, body),
    control,
    conditions: conditions === '' ? null : { headers: conditions, method },
    hasRange: conditions !== '' && firstHeader(conditions, 'range') !== null,
    authorized,
    isRetrieval,
  };
}

const bodyFields = ['content-type', 'content-encoding', 'content-language'];

function targetOf(
  context: AccessContext,
  keys: AddressKeys,
  policy: CachePolicy,
  identity: string,
  body: Uint8Array | null,
): CacheTarget {
  const { request, route, service } = context;
  const address = addressOf(context);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  let partition = `${method} ${route?.id ?? ''} ${service?.id ?? ''}`;
  // The backend receives the path as the client sent it, too.
  if (request.rawPath !== request.path) partition += `${separator}raw ${request.rawPath}`;
  const { changes } = context.upstream;
  if (changes !== '') partition += `${separator}sent ${hash('sha256', changes, 'base64url')}`;
  if (body !== null && body.byteLength > 0) {
    partition += `${separator}body ${hash('sha256', body, 'base64url')}`;
    // The same bytes may have different meanings.
    for (const name of bodyFields) partition += `${separator}${context.upstream.headerValues(name).join()}`;
  }
  for (const name of policy.varyHeaders) {
    partition += `${separator}${name}`;
    // As the client sent it, and as the backend receives it.
    for (const value of request.headerValues(name)) partition += `:${value}`;
    for (const value of context.upstream.headerValues(name)) partition += `>${value}`;
  }
  return { key: keys.key(address), partition, identity, address };
}

/**
 * The client as the backend sees it: the consumer, or the credential if there is no consumer, and the subject of the
 * claims. `Authorization` is added: a consumer may be an application whose users only the backend knows.
 * Null: the client is authenticated, but has no identifier.
 */
function identityOf({ client, request }: BaseContext, authorized: boolean): string | null {
  const { consumer, credential, details } = client;
  if (consumer === null && credential === null && details === null) return '';
  const subject = details?.claims?.['sub'];
  let more = typeof subject === 'string' ? `${separator}${JSON.stringify(subject)}` : '';
  if (authorized) more += `${separator}${request.headerValues('authorization').join(separator)}`;
  if (consumer !== null) return `consumer ${consumer.id}${more}`;
  const name = credential?.id ?? credential?.identifier ?? null;
  if (name === null) return more === '' ? null : `somebody${more}`;
  return `credential ${name}${more}`;
}

/**
 * The headers that a backend may select its response by, as it receives them: plugins may have changed them.
 * May be called at any time, also after the request has ended.
 */
export function selectingHeaders({ request, upstream, client }: AccessContext): HeaderValues {
  return (name) => {
    // The cache itself changes these; the gateway writes the next ones, and the key does not contain the client address.
    if (conditionFields.includes(name)) return request.headerValues(name);
    if (clientAddressFields.has(name)) return [...request.headerValues(name), client.ip, client.peerIp];
    return name === 'host' || name.startsWith('x-forwarded-')
      ? request.headerValues(name)
      : upstream.headerValues(name);
  };
}

const clientAddressFields: ReadonlySet<string> = new Set(['forwarded', 'x-forwarded-for', 'x-real-ip']);

const conditionFields = ['if-none-match', 'if-modified-since', 'if-range', 'range'];

/** The conditional and range headers; '' if plugins have removed them. */
function conditionsOf({ upstream }: AccessContext): HeaderBlock {
  let headers = '';
  for (const name of conditionFields) {
    for (const value of upstream.headerValues(name)) headers += `${name}: ${value}\r\n`;
  }
  return headers;
}

/** Makes the request a validation of a stored response (RFC 9111 4.3.1). False: the response has no validator. */
export function addValidators({ upstream }: AccessContext, { response }: CachedResponse): boolean {
  const tag = firstHeader(response.headers, 'etag');
  const modified = firstHeader(response.headers, 'last-modified');
  if (tag === null && modified === null) return false;
  if (tag === null) upstream.removeHeader('If-None-Match');
  else upstream.setHeader('If-None-Match', tag);
  if (modified === null) upstream.removeHeader('If-Modified-Since');
  else upstream.setHeader('If-Modified-Since', modified);
  upstream.removeHeader('Range');
  upstream.removeHeader('If-Range');
  return true;
}

/** The cache evaluates the conditions of the client once it has the whole response. */
export function removeConditions({ upstream }: AccessContext): void {
  upstream.removeHeader('If-None-Match');
  upstream.removeHeader('If-Modified-Since');
}
