import type { RequestView } from '../../plugin-sdk/request-views.ts';
import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { type CookieAttributes, cookieValues, setCookie } from '../http/cookies.ts';
import { type OpenedText, sealer } from './seal.ts';

export interface SealedCookieOptions {
  /** As long and as random as a key: anyone that knows it can forge cookies. */
  readonly secret: string;
  /** A cookie of another purpose, or another name, is not accepted. */
  readonly purpose: string;
  readonly name: string;
  readonly attributes: CookieAttributes;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number;
}

/** A cookie whose content the client can neither read nor forge. One that is too large for a browser is sent in parts. */
export interface SealedCookie {
  /** The content; null: there is no valid cookie. Of several cookies of the name, the first 4 are tried. */
  read(request: RequestView): string | null;
  /**
   * Values of `Set-Cookie`: the cookie, and the removal of parts that the request showed and that are no longer used.
   * `expiresAt`: seconds since the epoch, after which it is not accepted. `maxAge`: seconds for which the browser
   * keeps it; null: until the browser is closed. Null: the content is too large (about 13 kB).
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
