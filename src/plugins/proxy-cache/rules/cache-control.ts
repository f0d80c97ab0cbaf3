/** Directives of `Cache-Control` (RFC 9111 5.2, RFC 5861). Durations in seconds, -1 if the directive is absent. */
export interface CacheControl {
  readonly noStore: boolean;
  /** Also `no-cache="field"`: validating more than required is always correct. */
  readonly noCache: boolean;
  /** Also `private="field"`. */
  readonly isPrivate: boolean;
  readonly isPublic: boolean;
  /** `must-revalidate` or `proxy-revalidate`. */
  readonly mustRevalidate: boolean;
  /** `must-revalidate` itself, which allows storing responses to requests with `Authorization`. */
  readonly mustRevalidateItself: boolean;
  readonly mustUnderstand: boolean;
  readonly onlyIfCached: boolean;
  readonly maxAge: number;
  readonly sMaxAge: number;
  readonly minFresh: number;
  /** Infinity without a value: any age is accepted. */
  readonly maxStale: number;
  readonly staleWhileRevalidate: number;
  readonly staleIfError: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export const noDirectives: CacheControl = Object.freeze({
  noStore: false,
  noCache: false,
  isPrivate: false,
  isPublic: false,
  mustRevalidate: false,
  mustRevalidateItself: false,
  mustUnderstand: false,
  onlyIfCached: false,
  maxAge: -1,
  sMaxAge: -1,
  minFresh: -1,
  maxStale: -1,
  staleWhileRevalidate: -1,
  staleIfError: -1,
});

/** A directive and its value, as a token or between quotes. */
const directive = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?([^,]*)(?:,|$)/g;

/** Larger values, in seconds, are treated as this one (RFC 9111 1.2.2). */
const maxSeconds = 2 ** 31;

/**
 * Parses all lines of a `Cache-Control` as one list. A duration that is not a number counts as 0. Of a directive that
 * occurs twice the smaller value counts: when in doubt, the response is stale (RFC 9111 4.2.1).
 */
export function parseCacheControl(list: string | null): CacheControl {
  if (list === null || list === '') return noDirectives;
  const result: Writable<CacheControl> = { ...noDirectives };
  for (const [, name = '', quoted, token, rest = ''] of list.matchAll(directive)) {
    const value = quoted ?? token;
    const malformed = rest.trim() !== '';
    switch (name.toLowerCase()) {
      case 'no-store':
        result.noStore = true;
        break;
      case 'no-cache':
        result.noCache = true;
        break;
      case 'private':
        result.isPrivate = true;
        break;
      case 'public':
        result.isPublic = true;
        break;
      case 'must-revalidate':
        result.mustRevalidate = true;
        result.mustRevalidateItself = true;
        break;
      case 'proxy-revalidate':
        result.mustRevalidate = true;
        break;
      case 'must-understand':
        result.mustUnderstand = true;
        break;
      case 'only-if-cached':
        result.onlyIfCached = true;
        break;
      case 'max-age':
        result.maxAge = smallest(result.maxAge, value, malformed);
        break;
      case 's-maxage':
        result.sMaxAge = smallest(result.sMaxAge, value, malformed);
        break;
      case 'min-fresh':
        result.minFresh = Math.max(result.minFresh, malformed ? maxSeconds : seconds(value));
        break;
      case 'max-stale':
        result.maxStale = value === undefined && !malformed ? Number.POSITIVE_INFINITY : seconds(value);
        break;
      case 'stale-while-revalidate':
        result.staleWhileRevalidate = smallest(result.staleWhileRevalidate, value, malformed);
        break;
      case 'stale-if-error':
        result.staleIfError = smallest(result.staleIfError, value, malformed);
        break;
    }
  }
  return result;
}

function smallest(known: number, value: string | undefined, malformed: boolean): number {
  const parsed = malformed ? 0 : seconds(value);
  return known < 0 ? parsed : Math.min(known, parsed);
}

function seconds(value: string | undefined): number {
  return value !== undefined && /^\d+$/.test(value) ? Math.min(Number(value), maxSeconds) : 0;
}
