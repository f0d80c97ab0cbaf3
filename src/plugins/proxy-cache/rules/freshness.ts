import type { HeaderBlock } from '../../../plugin-sdk/index.ts';
import type { CacheControl } from './cache-control.ts';
import { firstHeader, headerValues, parseHttpDate } from './header-fields.ts';

/** What was determined about a response when it was received. Durations in seconds. */
export interface ResponseTerms {
  /** Explicitly `public`: shared by all consumers. */
  readonly isPublic: boolean;
  /** `no-cache`: validated before each use. */
  readonly alwaysValidate: boolean;
  /** Never used stale. */
  readonly neverStale: boolean;
  readonly freshnessLifetime: number;
  /** Age when it was received. */
  readonly initialAge: number;
  readonly staleWhileRevalidate: number;
  readonly staleIfError: number;
}

export interface StoredResponse extends ResponseTerms {
  readonly kind: 'response';
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  /** `CacheTarget.partition` of the request that it answered. */
  readonly partition: string;
  /** Without `Age` and the headers that the cache adds. */
  readonly headers: HeaderBlock;
}

/** Seconds that count as infinite: the age of a response with an unreadable `Age`. */
const infiniteAge = 2 ** 31;

/** Seconds that a response stays fresh; -1: it does not say (RFC 9111 4.2.1). There are no heuristics (4.2.2). */
export function freshnessLifetime(headers: HeaderBlock, control: CacheControl, now: number): number {
  if (control.sMaxAge >= 0) return control.sMaxAge;
  if (control.maxAge >= 0) return control.maxAge;
  const expires = headerValues(headers, 'expires');
  if (expires.length === 0) return -1;
  // Several lines, or an invalid date, mean that it has already expired (RFC 9111 5.3).
  const until = expires.length > 1 ? null : parseHttpDate(expires[0] as string, now);
  if (until === null) return 0;
  return Math.max(0, (until - dateOf(headers, now)) / 1000);
}

/**
 * The age of a response when it is received, in seconds (`corrected_initial_age` of RFC 9111 4.2.3).
 * The times are milliseconds since the epoch.
 */
export function initialAge(headers: HeaderBlock, requestTime: number, responseTime: number): number {
  const apparentAge = Math.max(0, (responseTime - dateOf(headers, responseTime)) / 1000);
  return Math.max(apparentAge, ageValue(headers) + Math.max(0, responseTime - requestTime) / 1000);
}

/**
 * The value of `Age`. The first member of a list counts (RFC 9111 5.1), unless the members are equal: that is a
 * field written twice. Lines that violate the grammar make the response stale.
 */
function ageValue(headers: HeaderBlock): number {
  const lines = headerValues(headers, 'age');
  if (lines.length === 0) return 0;
  if (lines.length > 1) return infiniteAge;
  const [first = '', second] = (lines[0] as string).split(',').map((member) => member.trim());
  return /^\d+$/.test(first) && first !== second ? Math.min(Number(first), infiniteAge) : infiniteAge;
}

function dateOf(headers: HeaderBlock, now: number): number {
  const text = firstHeader(headers, 'date');
  return (text === null ? null : parseHttpDate(text, now)) ?? now;
}

/** Seconds. Infinite for a response stored in the future: the clock was set back, so its age is unknown. */
export function currentAge(response: StoredResponse, now: number): number {
  const residentTime = (now - response.storedAt) / 1000;
  return residentTime < -1 ? Number.POSITIVE_INFINITY : response.initialAge + Math.max(0, residentTime);
}

/** Whether a stored response may be served at once, served while it is revalidated, or only after validation. */
export type FreshnessDecision = 'serve' | 'serve-and-revalidate' | 'validate';

/** RFC 9111 4.2, 4.2.4, 5.2.1; RFC 5861 3. `control`: of the request; `now`: milliseconds since the epoch. */
export function decideFreshness(response: StoredResponse, control: CacheControl, now: number): FreshnessDecision {
  if (response.alwaysValidate) return 'validate';
  const age = currentAge(response, now);
  const lifetime = response.freshnessLifetime;
  if (control.maxAge >= 0 && age >= control.maxAge) return 'validate';
  if (age < lifetime) return control.minFresh < 0 || lifetime - age >= control.minFresh ? 'serve' : 'validate';
  if (response.neverStale) return 'validate';
  const staleness = age - lifetime;
  if (control.maxStale >= staleness) return 'serve';
  const strict = control.maxAge >= 0 || control.minFresh >= 0;
  return !strict && staleness < response.staleWhileRevalidate ? 'serve-and-revalidate' : 'validate';
}

/** Whether it may be served instead of an error of the backend (RFC 5861 4). */
export function canServeOnError(response: StoredResponse, now: number): boolean {
  if (response.neverStale || response.alwaysValidate) return false;
  return currentAge(response, now) - response.freshnessLifetime < response.staleIfError;
}

/** Statuses that say only that the backend failed (RFC 5861 4). */
export function isServerFailure(status: number): boolean {
  return status === 500 || status === 502 || status === 503 || status === 504;
}
