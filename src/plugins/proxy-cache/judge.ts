import type { HeaderBlock } from '../../plugin-sdk/index.ts';
import { type CacheControl, parseCacheControl } from './cache-control.ts';
import { ageOnArrival, freshFor } from './freshness.ts';
import { keepLines, lineOf, linesOf, listOf, namesOf } from './header-lines.ts';
import type { CachePolicy } from './policy.ts';
import type { AnswerTerms } from './stored-answer.ts';

/** An answer of a backend and what of its request matters to the cache. */
export interface Arrival {
  readonly status: number;
  readonly block: HeaderBlock;
  /** The request has an `Authorization`. */
  readonly authorized: boolean;
  /** The request is somebody's whom the gateway knows. */
  readonly personal: boolean;
  /** Milliseconds since the epoch. */
  readonly asked: number;
  readonly came: number;
}

export interface Judgement extends AnswerTerms {
  /** Names of request headers that choose the answer, in lower case, sorted. */
  readonly vary: readonly string[];
  /** Milliseconds since the epoch until when it is of any use. */
  readonly expires: number;
}

/** Largest list in a `Vary`: each name is looked up for each request. */
const mostVaryNames = 16;

/** Most tags of one answer; further ones do not count. */
const mostTags = 256;

/** Seconds for which an answer that can be validated is kept at least after its time. */
const validatable = 60;

const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Whether and how an answer may be kept by a cache that many share (RFC 9111 3); null: it may not. */
export function judge(arrival: Arrival, policy: CachePolicy): Judgement | null {
  const { status, block } = arrival;
  if (!policy.statuses.has(status) || status < 200 || status === 206 || status === 304) return null;
  const type = lineOf(block, 'content-type');
  if (!policy.keepsType(type) || endless.test(type ?? '') || lineOf(block, 'content-range') !== null) return null;
  if (policy.cookies === 'bypass' && setsCookies(block)) return null;
  const control = parseCacheControl(listOf(block, 'cache-control'));
  if (isForbidden(control, arrival, policy)) return null;
  const vary = varyNames(block);
  if (vary === null) return null;
  const life = policy.heeds ? statedLife(control, arrival, policy) : ownLife(control, policy);
  if (life === null) return null;
  const expires = expiry(life, arrival, policy);
  return expires <= arrival.came ? null : { ...life, isPublic: control.isPublic, vary, expires };
}

function isForbidden(control: CacheControl, { status, authorized, personal }: Arrival, policy: CachePolicy): boolean {
  if (control.noStore && (policy.heeds || !policy.ignoresNoStore)) return true;
  // Without `cache_control` what is private may be kept for the one whose it is: the key holds who that is.
  if (control.isPrivate && (policy.heeds || !personal)) return true;
  if (control.mustUnderstand && !understood.has(status)) return true;
  if (!authorized || personal) return false;
  // RFC 9111 3.5
  return !(control.isPublic || control.sMaxAge >= 0 || control.mustRevalidateItself);
}

/** Statuses whose rules of caching the cache follows (RFC 9111 5.2.2.3): those of RFC 9110 and some that came later. */
const understood: ReadonlySet<number> = new Set([
  ...[200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 425, 426],
  ...[428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 511],
]);

/** Types of answers that are conversations: nobody is to wait for their end. */
const endless = /^(?:text\/event-stream|application\/grpc)/i;

function setsCookies(block: HeaderBlock): boolean {
  return cookieFields.some((name) => lineOf(block, name) !== null);
}

const cookieFields = ['set-cookie', 'set-cookie2'];

type Life = Omit<AnswerTerms, 'isPublic'>;

/** As the answer says. Null: it says nothing, and is not guessed at. */
function statedLife(control: CacheControl, { block, asked, came }: Arrival, policy: CachePolicy): Life | null {
  const stated = freshFor(block, control, came);
  if (control.noCache ? !hasValidator(block) : stated < 0) return null;
  const neverStale = control.mustRevalidate || control.noCache || control.sMaxAge >= 0;
  const whileRevalidating = control.staleWhileRevalidate;
  const ifError = control.staleIfError;
  return {
    alwaysValidate: control.noCache,
    neverStale,
    freshFor: Math.max(0, stated),
    age: ageOnArrival(block, asked, came),
    staleWhileRevalidate: neverStale ? 0 : whileRevalidating >= 0 ? whileRevalidating : policy.staleWhileRevalidate,
    staleIfError: neverStale ? 0 : ifError >= 0 ? ifError : policy.staleIfError,
  };
}

/** As the operator says; an answer that is never to be used stale is not even so. */
function ownLife(control: CacheControl, policy: CachePolicy): Life {
  const neverStale = control.mustRevalidate;
  return {
    alwaysValidate: false,
    neverStale,
    freshFor: policy.ttl,
    age: 0,
    staleWhileRevalidate: neverStale ? 0 : policy.staleWhileRevalidate,
    staleIfError: neverStale ? 0 : policy.staleIfError,
  };
}

function expiry(life: Life, { block, came }: Arrival, policy: CachePolicy): number {
  const fresh = Math.max(0, life.freshFor - life.age);
  const stale = Math.max(life.staleWhileRevalidate, life.staleIfError);
  const again = hasValidator(block) ? Math.max(validatable, life.freshFor) : 0;
  const kept = policy.storageTtl >= 0 ? policy.storageTtl : fresh + Math.max(stale, again);
  return Math.ceil(came + kept * 1000);
}

export function hasValidator(block: HeaderBlock): boolean {
  return lineOf(block, 'etag') !== null || lineOf(block, 'last-modified') !== null;
}

/** Null: it cannot be told which requests the answer is for. */
function varyNames(block: HeaderBlock): readonly string[] | null {
  const list = listOf(block, 'vary');
  const coded = lineOf(block, 'content-encoding') !== null;
  if (list === null) return coded ? codedNames : [];
  // Many backends forget to say so; clients that cannot read the coding would get it.
  const names = new Set<string>(coded ? codedNames : []);
  for (const member of list.split(',')) {
    const name = member.trim().toLowerCase();
    if (name === '') continue;
    if (name === '*' || !token.test(name)) return null;
    names.add(name);
    if (names.size > mostVaryNames) return null;
  }
  return [...names].sort();
}

const codedNames: readonly string[] = ['accept-encoding'];

/** Tags of an answer, each once. */
export function tagsOf(block: HeaderBlock, policy: CachePolicy): readonly string[] {
  const tags = new Set<string>();
  for (const name of policy.tagHeaders) {
    for (const line of linesOf(block, name)) {
      for (const tag of line.split(/[\s,]+/)) if (tag !== '' && tags.size < mostTags) tags.add(tag);
    }
  }
  return [...tags];
}

/** Fields that belong to one connection or one client, or that the cache writes anew (RFC 9111 3.1). */
const notKept: ReadonlySet<string> = new Set([
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

/** The lines of an answer that are kept. `Date` is added where the backend has not told it (RFC 9110 6.6.1). */
export function keptLines(block: HeaderBlock, policy: CachePolicy, now: number): HeaderBlock {
  const hidden = policy.passesTags ? [] : policy.tagHeaders;
  const cookies = policy.cookies === 'store';
  const kept = keepLines(
    block,
    (name) => !notKept.has(name) && !hidden.includes(name) && (cookies || !cookieFields.includes(name)),
  );
  return lineOf(kept, 'date') === null ? `${kept}Date: ${new Date(now).toUTCString()}\r\n` : kept;
}

/** What a 304 does not change of the answer that it confirms (RFC 9111 3.2), whatever it says. */
const notUpdated: ReadonlySet<string> = new Set([
  ...notKept,
  'content-encoding',
  'content-md5',
  'content-range',
  'etag',
]);

/** The lines of a kept answer with those of the 304 that confirmed it: without its cookies, unless they are for all. */
export function updatedLines(
  kept: HeaderBlock,
  confirmation: HeaderBlock,
  cookies: CachePolicy['cookies'],
  now: number,
): HeaderBlock {
  const all = cookies === 'store';
  let fresh = keepLines(confirmation, (name) => !notUpdated.has(name) && (all || !cookieFields.includes(name)));
  if (lineOf(fresh, 'date') === null) fresh += `Date: ${new Date(now).toUTCString()}\r\n`;
  const replaced = namesOf(fresh);
  return keepLines(kept, (name) => !replaced.has(name)) + fresh;
}
