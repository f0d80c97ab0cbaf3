/** The configuration as the rules read it, compiled once. Durations are in seconds, sizes in bytes. */
export interface CachePolicy {
  /**
   * Part of every key: the instance, and the settings that decide who may share a response. When they change, the cache
   * starts empty.
   */
  readonly keyNamespace: string;
  readonly methods: ReadonlySet<string>;
  readonly statuses: ReadonlySet<number>;
  readonly acceptsContentType: (contentType: string | null) => boolean;
  /** Freshness lifetime, unless `honoursCacheControl`: then the response decides. */
  readonly ttl: number;
  /** Applies `Cache-Control`, `Expires` and `Age`. */
  readonly honoursCacheControl: boolean;
  readonly ignoreCase: boolean;
  /** -1: derived from the response. */
  readonly storageTtl: number;
  /** Names of the query arguments that are part of the key; null: all. */
  readonly queryArguments: ReadonlySet<string> | null;
  /** Lower-case names of the request headers that are part of the key. */
  readonly varyHeaders: readonly string[];
  readonly showsAge: boolean;
  readonly showsStatus: boolean;
  readonly showsKey: boolean;
  readonly coalescing: boolean;
  /** Milliseconds. */
  readonly coalescingWait: number;
  readonly staleWhileRevalidate: number;
  readonly staleIfError: number;
  readonly maxBody: number;
  /** Lower-case names. */
  readonly tagHeaders: readonly string[];
  readonly passesTags: boolean;
  readonly cookies: 'bypass' | 'strip' | 'store';
  readonly ignoresNoStore: boolean;
}

const units: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Bytes of `512k`, `64m` or `1g`; null for anything else. */
export function parseSize(text: string): number | null {
  const match = /^([1-9]\d{0,9})([kmg])$/i.exec(text);
  return match === null ? null : Number(match[1]) * (units[(match[2] as string).toLowerCase()] as number);
}

/**
 * Tests the `Content-Type` of a response. Parameters must be equal, in any order; wildcards match with any
 * parameters. A response without a type matches only the wildcard for all types.
 */
export function contentTypeMatcher(types: readonly string[]): (contentType: string | null) => boolean {
  const exact = new Set(types.map(normalType));
  const wildcards = new Set(types.filter((type) => type.includes('*')).map((type) => type.toLowerCase().trim()));
  return (contentType) => {
    if (wildcards.has('*/*')) return true;
    if (contentType === null) return false;
    const type = normalType(contentType);
    if (exact.has(type)) return true;
    return wildcards.size > 0 && wildcards.has(`${type.slice(0, type.indexOf('/'))}/*`);
  };
}

function normalType(text: string): string {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const named = parameters.filter((part) => part !== '').map(normalParameter);
  return [type.toLowerCase(), ...named.sort()].join(';');
}

/** The charset is case-insensitive (RFC 9110 8.3.2); for other parameters this is not known. */
function normalParameter(text: string): string {
  const equals = text.indexOf('=');
  const name = text.slice(0, equals).trim().toLowerCase();
  const value = text.slice(equals + 1).replace(/^"(.*)"$/, '$1');
  return `${name}=${name === 'charset' ? value.toLowerCase() : value}`;
}
