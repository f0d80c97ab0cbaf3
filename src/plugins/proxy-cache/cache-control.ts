/** Directives of `Cache-Control` (RFC 9111 5.2, RFC 5861). Times in seconds, -1 where the directive is not there. */
export interface CacheControl {
  readonly noStore: boolean;
  /** Also `no-cache="field"`: to validate more than is asked for is always right. */
  readonly noCache: boolean;
  /** Also `private="field"`. */
  readonly isPrivate: boolean;
  readonly isPublic: boolean;
  /** `must-revalidate` or `proxy-revalidate`. */
  readonly mustRevalidate: boolean;
  /** `must-revalidate` itself, which lets answers to requests with `Authorization` be stored. */
  readonly mustRevalidateItself: boolean;
  readonly mustUnderstand: boolean;
  readonly onlyIfCached: boolean;
  readonly maxAge: number;
  readonly sMaxAge: number;
  readonly minFresh: number;
  /** Infinity without a value: any age will do. */
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

/** Values beyond this many seconds are taken for it (RFC 9111 1.2.2). */
const longest = 2 ** 31;

/**
 * Reads all lines of a `Cache-Control` as one list. A time that is no number counts as 0, as does one given twice with different
 * values: what is in doubt is stale (RFC 9111 4.2.1).
 */
export function parseCacheControl(list: string | null): CacheControl {
  if (list === null || list === '') return noDirectives;
  const found: Writable<CacheControl> = { ...noDirectives };
  for (const [, name = '', quoted, token, rest = ''] of list.matchAll(directive)) {
    const value = quoted ?? token;
    const garbled = rest.trim() !== '';
    switch (name.toLowerCase()) {
      case 'no-store':
        found.noStore = true;
        break;
      case 'no-cache':
        found.noCache = true;
        break;
      case 'private':
        found.isPrivate = true;
        break;
      case 'public':
        found.isPublic = true;
        break;
      case 'must-revalidate':
        found.mustRevalidate = true;
        found.mustRevalidateItself = true;
        break;
      case 'proxy-revalidate':
        found.mustRevalidate = true;
        break;
      case 'must-understand':
        found.mustUnderstand = true;
        break;
      case 'only-if-cached':
        found.onlyIfCached = true;
        break;
      case 'max-age':
        found.maxAge = least(found.maxAge, value, garbled);
        break;
      case 's-maxage':
        found.sMaxAge = least(found.sMaxAge, value, garbled);
        break;
      case 'min-fresh':
        found.minFresh = Math.max(found.minFresh, garbled ? longest : seconds(value));
        break;
      case 'max-stale':
        found.maxStale = value === undefined && !garbled ? Number.POSITIVE_INFINITY : seconds(value);
        break;
      case 'stale-while-revalidate':
        found.staleWhileRevalidate = least(found.staleWhileRevalidate, value, garbled);
        break;
      case 'stale-if-error':
        found.staleIfError = least(found.staleIfError, value, garbled);
        break;
    }
  }
  return found;
}

function least(known: number, value: string | undefined, garbled: boolean): number {
  const given = garbled ? 0 : seconds(value);
  return known < 0 ? given : Math.min(known, given);
}

function seconds(value: string | undefined): number {
  return value !== undefined && /^\d+$/.test(value) ? Math.min(Number(value), longest) : 0;
}
