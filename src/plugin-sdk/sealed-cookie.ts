import { BoundedCache } from '../util/bounded-cache.ts';
import { cookieValues } from './cookies.ts';
import type { RequestView } from './request-views.ts';
import { type OpenedText, sealer } from './seal.ts';

/** Attributes of `Set-Cookie` (RFC 6265). */
export interface CookieAttributes {
  readonly path: string;
  /** Null: only the host that set it. */
  readonly domain: string | null;
  /** Null: the attribute is left out, and the browser decides. */
  readonly sameSite: 'Strict' | 'Lax' | 'None' | null;
  readonly httpOnly: boolean;
  readonly secure: boolean;
}

export interface SealedCookieOptions {
  /** As long and as random as a key: whoever knows it can make cookies. */
  readonly secret: string;
  /** Cookies of another purpose are not opened. The name of the cookie is part of it by itself. */
  readonly purpose: string;
  readonly name: string;
  readonly attributes: CookieAttributes;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number;
}

/** A cookie whose content the client can neither read nor make. One that is too large for a browser is sent in parts. */
export interface SealedCookie {
  /** The content; null when there is no valid one. Several cookies of the name are tried in order, the first 4 of them. */
  read(request: RequestView): string | null;
  /**
   * Values of `Set-Cookie`: the cookie, and the removal of parts that the request showed and that are no longer used.
   * `expiresAt`: seconds since the epoch, from when on it is not accepted. `maxAge`: seconds for which the browser
   * keeps it; null: until the browser is closed. The answer is null when the content is too large (about 13 kB).
   */
  write(request: RequestView, content: string, expiresAt: number, maxAge?: number | null): readonly string[] | null;
  /** Values of `Set-Cookie` that remove the cookie with all parts that the request showed. */
  clear(request: RequestView): readonly string[];
}

/** Browsers keep 4096 bytes of name, value and attributes. */
const partSize = 3600;
const maxParts = 5;
const maxCandidates = 4;

/** The first part begins with the number of parts, so that left-over ones do no harm: `1.<sealed>`; others are `<name>_2`. */
export function sealedCookie(options: SealedCookieOptions): SealedCookie {
  const { name, attributes } = options;
  const { now = () => Date.now() } = options;
  const { seal, openWithExpiry } = sealer(options.secret, `${options.purpose}\0${name}`, now);
  // Opening costs about 30 µs, and a browser sends the same cookie again and again.
  const known = new BoundedCache<string, OpenedText>(1000);
  const open = (sealed: string): string | null => {
    let opened = known.get(sealed) ?? null;
    if (opened === null) {
      opened = openWithExpiry(sealed);
      if (opened !== null && sealed.length <= partSize) known.set(ownCopy(sealed), opened);
    }
    return opened !== null && opened.expiresAt * 1000 > now() ? opened.text : null;
  };
  const remove = (part: string): string =>
    `${setCookie(part, '', attributes, 0)}; Expires=Thu, 01 Jan 1970 00:00:00 GMT`;
  return {
    read(request) {
      for (const [at, first] of cookieValues(request, name).slice(0, maxCandidates).entries()) {
        const sealed = joinParts(request, name, first, at);
        const content = sealed === null ? null : open(sealed);
        if (content !== null) return content;
      }
      return null;
    },
    write(request, content, expiresAt, maxAge = null) {
      const sealed = seal(content, expiresAt);
      const count = Math.ceil(sealed.length / partSize);
      if (count > maxParts) return null;
      const lines: string[] = [];
      for (let part = 1; part <= count; part += 1) {
        const piece = sealed.slice((part - 1) * partSize, part * partSize);
        lines.push(setCookie(partName(name, part), part === 1 ? `${count}.${piece}` : piece, attributes, maxAge));
      }
      return [...lines, ...shownParts(request, name, count + 1).map(remove)];
    },
    clear: (request) => [name, ...shownParts(request, name, 2)].map(remove),
  };
}

/** One value of `Set-Cookie`. `maxAge` in seconds; null: until the browser is closed. The value must be a cookie's. */
export function setCookie(name: string, value: string, attributes: CookieAttributes, maxAge: number | null): string {
  const { path, domain, sameSite, httpOnly, secure } = attributes;
  let line = `${name}=${value}; Path=${path}`;
  if (domain !== null) line += `; Domain=${domain}`;
  if (maxAge !== null) line += `; Max-Age=${Math.floor(maxAge)}`;
  if (sameSite !== null) line += `; SameSite=${sameSite}`;
  if (secure) line += '; Secure';
  if (httpOnly) line += '; HttpOnly';
  return line;
}

/** A slice of a text keeps the whole text in memory, here the head of a request. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

function joinParts(request: RequestView, name: string, first: string, candidate: number): string | null {
  const count = first.charCodeAt(0) - 48;
  if (!(count >= 1 && count <= maxParts) || first[1] !== '.') return null;
  let sealed = first.slice(2);
  for (let part = 2; part <= count; part += 1) {
    const values = cookieValues(request, partName(name, part));
    const value = values[candidate] ?? values[0];
    if (value === undefined) return null;
    sealed += value;
  }
  return sealed;
}

function shownParts(request: RequestView, name: string, from: number): readonly string[] {
  const shown: string[] = [];
  for (let part = from; part <= maxParts; part += 1) {
    if (cookieValues(request, partName(name, part)).length > 0) shown.push(partName(name, part));
  }
  return shown;
}

function partName(name: string, part: number): string {
  return part === 1 ? name : `${name}_${part}`;
}
