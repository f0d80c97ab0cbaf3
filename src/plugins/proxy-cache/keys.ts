import { hash } from 'node:crypto';
import { BoundedCache } from '../../plugin-sdk/index.ts';
import type { CachePolicy } from './policy.ts';

/** What the key of a request's address is made of. */
export interface Address {
  readonly scheme: string;
  /** With the port, if the client names one: a backend may put both into its answer. */
  readonly host: string;
  /** Port of the listener. */
  readonly port: number;
  /** Normalised, one char for each byte. */
  readonly path: string;
  readonly query: string;
}

/** What there is at an address, as one request may have it. */
export interface Place {
  /** Key of the address: 64 hexadecimal digits. */
  readonly key: string;
  /** All that makes answers at one address differ and is known before there is one: method, route, service, ... */
  readonly owner: string;
  /** Whose the request is; '' for nobody's. */
  readonly who: string;
  readonly address: Address;
}

/** Stands between the parts of a text, in none of which it can occur: field values and targets have no control bytes. */
export const separator = '\x1f';

/** Longer addresses are not remembered: nobody is to fill the memory with them. */
const longestKnown = 512;

/** Turns addresses into keys; those of late are remembered. */
export class AddressKeys {
  readonly #policy: CachePolicy;
  readonly #known = new BoundedCache<string, string>(8192);

  constructor(policy: CachePolicy) {
    this.#policy = policy;
  }

  key({ scheme, host, port, path, query }: Address): string {
    const place = this.#policy.ignoreCase ? path.toLowerCase() : path;
    // A path may have any byte; its length tells where it ends.
    const text = `${scheme}://${host} ${port} ${place.length} ${place}${this.#query(query)}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const key = hash('sha256', `${this.#policy.space}\n${text}`, 'hex');
    if (text.length <= longestKnown) this.#known.set(text, key);
    return key;
  }

  /** The arguments that count, by name; those of one name stay in their order. */
  #query(query: string): string {
    if (query === '') return '';
    const chosen = this.#policy.arguments;
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

/** The URL of an address as purges by prefix name it. */
export function urlOf({ scheme, host, path, query }: Address): string {
  const place = path.replace(
    /[^\x21-\x7e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return `${scheme}://${host}${place}${query === '' ? '' : `?${query}`}`;
}

/** The key of an answer where an address has several: by owner, by whose it is, and by the headers that `Vary` names. */
export function variantKey(
  { key, owner }: Place,
  who: string,
  generation: string,
  names: readonly string[],
  valuesOf: (name: string) => readonly string[],
): string {
  const text = [key, generation, owner, who];
  for (const name of names) text.push(`${name}:${normalValue(valuesOf(name))}`);
  return hash('sha256', text.join('\n'), 'hex');
}

/** Lines that are one list are the same as one line with the list, and blanks around commas do not count (RFC 9111 4.1). */
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
