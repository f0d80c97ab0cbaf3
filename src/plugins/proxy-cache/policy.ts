import type { ProxyCacheConfig } from './schema.ts';
import { parseSize } from './sizes.ts';

/** The configuration as the rules read it: compiled once. Times are in seconds, sizes in bytes. */
export interface CachePolicy {
  /**
   * Goes into all keys: the instance, and what of its configuration decides who may have what. Changed, it begins with nothing.
   */
  readonly space: string;
  readonly methods: ReadonlySet<string>;
  readonly statuses: ReadonlySet<number>;
  readonly keepsType: (contentType: string | null) => boolean;
  /** What an answer is fresh for, unless it says so itself where `heeds`. */
  readonly ttl: number;
  /** `Cache-Control` and its kin are heeded. */
  readonly heeds: boolean;
  readonly ignoreCase: boolean;
  /** -1: follows from the answer. */
  readonly storageTtl: number;
  /** Names of arguments that the key holds; null: all. */
  readonly arguments: ReadonlySet<string> | null;
  /** Lower-case names of headers that the key holds. */
  readonly headers: readonly string[];
  readonly showsAge: boolean;
  readonly showsStatus: boolean;
  readonly showsKey: boolean;
  readonly coalesces: boolean;
  /** Milliseconds. */
  readonly wait: number;
  readonly staleWhileRevalidate: number;
  readonly staleIfError: number;
  readonly maxBody: number;
  /** Lower-case names. */
  readonly tagHeaders: readonly string[];
  readonly passesTags: boolean;
  readonly cookies: 'bypass' | 'strip' | 'store';
  readonly ignoresNoStore: boolean;
}

export function cachePolicy(config: ProxyCacheConfig, instanceId: string): CachePolicy {
  const shown = config.response_headers;
  return {
    space: `${instanceId} ${JSON.stringify(rulesOf(config))}`,
    methods: new Set(config.request_method),
    statuses: new Set(config.response_code),
    keepsType: typeTest(config.content_type),
    ttl: config.cache_ttl ?? 300,
    heeds: config.cache_control,
    ignoreCase: config.ignore_uri_case ?? false,
    storageTtl: config.storage_ttl ?? -1,
    arguments: config.vary_query_params === null ? null : new Set(config.vary_query_params),
    headers: [...new Set((config.vary_headers ?? []).map((name) => name.toLowerCase()))].sort(),
    showsAge: shown.age ?? true,
    showsStatus: shown['X-Cache-Status'] ?? true,
    showsKey: shown['X-Cache-Key'] ?? true,
    coalesces: config.coalescing,
    wait: config.coalescing_wait * 1000,
    staleWhileRevalidate: config.stale_while_revalidate,
    staleIfError: config.stale_if_error,
    maxBody: maxBody(config),
    tagHeaders: config.tag_headers.map((name) => name.toLowerCase()),
    passesTags: config.pass_tags,
    cookies: config.set_cookie,
    ignoresNoStore: config.ignore_no_store,
  };
}

function rulesOf(config: ProxyCacheConfig): readonly unknown[] {
  const { cache_control, ignore_uri_case, vary_query_params, vary_headers, set_cookie, ignore_no_store } = config;
  return [cache_control, ignore_uri_case, vary_query_params, vary_headers, set_cookie, ignore_no_store];
}

export function maxBody(config: ProxyCacheConfig): number {
  return parseSize(config.max_body) ?? 2 ** 20;
}

/** Some method whose body the key has to hold is answered from the cache. */
export function readsBodies(config: ProxyCacheConfig): boolean {
  return config.request_method.some((method) => method !== 'GET' && method !== 'HEAD');
}

/** Parameters have to be the same, in any order; `*` matches all, with any parameters. An answer without a type is not kept. */
function typeTest(types: readonly string[]): (contentType: string | null) => boolean {
  const exact = new Set(types.map(normalType));
  const wild = new Set(types.filter((type) => type.includes('*')).map((type) => type.toLowerCase().trim()));
  return (contentType) => {
    if (wild.has('*/*')) return true;
    if (contentType === null) return false;
    const type = normalType(contentType);
    if (exact.has(type)) return true;
    return wild.size > 0 && wild.has(`${type.slice(0, type.indexOf('/'))}/*`);
  };
}

function normalType(text: string): string {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const named = parameters.filter((part) => part !== '').map(normalParameter);
  return [type.toLowerCase(), ...named.sort()].join(';');
}

/** The charset is the same in any case (RFC 9110 8.3.2); of other values only their makers know. */
function normalParameter(text: string): string {
  const equals = text.indexOf('=');
  const name = text.slice(0, equals).trim().toLowerCase();
  const value = text.slice(equals + 1).replace(/^"(.*)"$/, '$1');
  return `${name}=${name === 'charset' ? value.toLowerCase() : value}`;
}
