import { hash } from 'node:crypto';
import { normalisePath } from '../../../plugin-kit/http/index.ts';
import { BoundedCache } from '../../../plugin-kit/runtime/index.ts';
import type { BaseContext } from '../../../plugin-sdk/index.ts';
import type { CachePolicy } from './policy.ts';

/** The parts of a request that make up its primary key. */
export interface Address {
  readonly scheme: string;
  /** Includes the port if the client sends it: a backend may put both into its response. */
  readonly host: string;
  /** Port of the listener. */
  readonly port: number;
  /** Normalised, one char for each byte. */
  readonly path: string;
  readonly query: string;
}

/** Where the response to a request is looked up and stored. */
export interface CacheTarget {
  /** Key of the address: 64 hexadecimal digits. */
  readonly key: string;
  /** Whatever separates responses at one address and is known before the response: method, route, service, ... */
  readonly partition: string;
  /** The authenticated client; '' for none. */
  readonly identity: string;
  readonly address: Address;
}

/** Values of a request header; its name is given in lower case. */
export type HeaderValues = (name: string) => readonly string[];

/** Separates parts of a text that cannot contain it: field values and request targets have no control bytes. */
export const separator = '\x1f';

/** Longer addresses are not cached, so that clients cannot fill the memory with them. */
const maxCachedLength = 512;

/** Turns addresses into keys, and caches recent ones. */
export class AddressKeys {
  readonly #policy: CachePolicy;
  readonly #recent = new BoundedCache<string, string>(8192);

  constructor(policy: CachePolicy) {
    this.#policy = policy;
  }

  key({ scheme, host, port, path, query }: Address): string {
    const keyPath = this.#policy.ignoreCase ? path.toLowerCase() : path;
    // A path may contain any byte; its length marks where it ends.
    const text = `${scheme}://${host} ${port} ${keyPath.length} ${keyPath}${this.#query(query)}`;
    const known = this.#recent.get(text);
    if (known !== undefined) return known;
    const key = hash('sha256', `${this.#policy.keyNamespace}\n${text}`, 'hex');
    if (text.length <= maxCachedLength) this.#recent.set(text, key);
    return key;
  }

  /** The arguments that are part of the key, sorted by name; several of one name keep their order. */
  #query(query: string): string {
    if (query === '') return '';
    const chosen = this.#policy.queryArguments;
    const text = this.#policy.ignoreCase ? query.toLowerCase() : query;
    if (chosen === null && !text.includes('&')) return text;
    const pairs = text.split('&').map((pair) => ({ pair, name: pair.split('=', 1)[0] as string }));
    const kept = chosen === null ? pairs : pairs.filter(({ name }) => chosen.has(decoded(name)));
    return kept
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      .map(({ pair }) => pair)
      .join('&');
  }
}

/** The address that a request is looked up at. */
export function addressOf({ request }: BaseContext): Address {
  const host = request.header('host');
  return {
    scheme: request.scheme,
    host: host === null ? request.host : host.toLowerCase(),
    port: request.port,
    path: request.path,
    query: request.query,
  };
}

/** The address of a URI reference; null if it is invalid or has another origin. */
export function sameOriginAddress(reference: string, base: Address): Address | null {
  const root = `${base.scheme}://${base.host}${base.path.startsWith('/') ? '' : '/'}`;
  let url: URL;
  let own: URL;
  try {
    own = new URL(root);
    url = new URL(reference, new URL(escaped(base.path), own));
  } catch {
    return null;
  }
  if (url.origin !== own.origin) return null;
  const path = normalisePath(url.pathname);
  return path === null ? null : { ...base, path, query: url.search.slice(1) };
}

function escaped(path: string): string {
  return path.replace(/[^\x21-\x7e]|[?#\\]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The URL of an address in the form that purges by prefix compare with. */
export function urlOf({ scheme, host, path, query }: Address): string {
  const escapedPath = path.replace(
    /[^\x21-\x7e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return `${scheme}://${host}${escapedPath}${query === '' ? '' : `?${query}`}`;
}

/** The key of one of several responses of an address: by partition, identity and the headers that `Vary` names. */
export function variantKey(
  { key, partition }: CacheTarget,
  identity: string,
  generation: string,
  varyNames: readonly string[],
  valuesOf: HeaderValues,
): string {
  const text = [key, generation, partition, identity];
  for (const name of varyNames) text.push(`${name}:${normalValue(valuesOf(name))}`);
  return hash('sha256', text.join('\n'), 'hex');
}

/** Several lines equal one line with the list, and whitespace around commas does not count (RFC 9111 4.1). */
function normalValue(lines: readonly string[]): string {
  if (lines.length === 0) return '-';
  return `+${lines.join(',').replaceAll(/[ \t]*,[ \t]*/g, ',')}`;
}

function decoded(name: string): string {
  if (!/[%+]/.test(name)) return name;
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}
