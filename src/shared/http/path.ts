/**
 * A path that is already normalised: starts with `/`, no `%`, no empty segment, no segment that starts with a dot, no
 * space, control byte, `?` or `#`. Most requests have one.
 */
const PLAIN_PATH =
  /^\/(?:[!"$&-\-0->@-~\x80-\xff][!"$&-.0->@-~\x80-\xff]*(?:\/[!"$&-\-0->@-~\x80-\xff][!"$&-.0->@-~\x80-\xff]*)*\/?)?$/;

/** `?` and `#` end a path: one inside would let a backend parse another path than was matched. */
const FORBIDDEN = /[\x00-\x1f\x7f?#\u0100-\uffff]/;

const SLASH = 0x2f;
const DOT = 0x2e;

const RESERVED = "!*'();:@&=+$,/?%#[]";

/** The decoded form of `%XX` for each byte: its character, or the triplet with upper-case digits. */
const DECODED: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  // An encoded control byte stays encoded, so that no later parser sees a raw CR or LF.
  const stays = byte < 0x20 || byte === 0x7f || RESERVED.includes(char);
  return stays ? triplet(byte) : char;
});

/**
 * The form of a request path that routes are matched against and that is forwarded. `rawPath` has no query; it is a
 * latin1 string (one char for each byte), and so is the result.
 *
 * Percent-encoded characters are decoded unless reserved or a control byte, then dot segments are removed, then runs of
 * slashes are merged. Null means that the path is bad: a malformed triplet, `%00`, a raw control byte, `?` or `#`, a
 * `..` above the root, or no leading slash.
 */
export function normalisePath(rawPath: string): string | null {
  return PLAIN_PATH.test(rawPath) ? rawPath : normaliseFully(rawPath);
}

function normaliseFully(rawPath: string): string | null {
  if (rawPath.charCodeAt(0) !== SLASH || FORBIDDEN.test(rawPath)) return null;
  const decoded = rawPath.includes('%') ? decodePath(rawPath) : rawPath;
  if (decoded === null) return null;
  return /\/(?:\/|\.)/.test(decoded) ? resolveSegments(decoded) : decoded;
}

function decodePath(path: string): string | null {
  let result = '';
  let from = 0;
  for (let at = path.indexOf('%'); at >= 0; at = path.indexOf('%', from)) {
    const byte = hexPair(path, at + 1);
    if (byte <= 0) return null;
    result += path.slice(from, at) + DECODED[byte];
    from = at + 3;
  }
  return result + path.slice(from);
}

/** The byte of two hexadecimal digits, or -1. */
function hexPair(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at));
  const low = hexDigit(text.charCodeAt(at + 1));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/**
 * Removes dot segments, then merges slashes. Servers that merge first let `..` remove empty segments, so `depth` counts
 * as they do: the path must stay below the root in both interpretations.
 */
function resolveSegments(path: string): string | null {
  const segments = path.split('/');
  const kept: string[] = [];
  let depth = 0;
  for (let i = 1; i < segments.length; i++) {
    const segment = segments[i]!;
    if (segment === '..') {
      if (depth === 0) return null;
      depth--;
      kept.pop();
    } else if (segment !== '.') {
      kept.push(segment);
      if (segment !== '') depth++;
    }
  }
  const last = segments[segments.length - 1];
  const result = kept.filter((segment) => segment !== '').join('/');
  const closed = last === '' || last === '.' || last === '..';
  return closed && result !== '' ? `/${result}/` : `/${result}`;
}

/** Matches everything that is allowed in a forwarded path, with whole triplets. */
const ESCAPED_PATH = /^(?:[A-Za-z0-9\-._~!$&'()*+,/:;=@[\]]|%[0-9A-Fa-f]{2})*$/;
const TO_ESCAPE = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,/:;=@[\]%]/g;

/**
 * The path as it is written to the backend: every byte that is not allowed in a request target is percent-encoded, `?`
 * and `#` too, so that no rewrite can add a query, a line or a header. Triplets stay. `path` is latin1; chars above are
 * encoded as UTF-8.
 */
export function escapePath(path: string): string {
  return ESCAPED_PATH.test(path) ? path : path.replace(TO_ESCAPE, escapeChar);
}

function escapeChar(char: string): string {
  const code = char.charCodeAt(0);
  if (code <= 0xff) return triplet(code);
  return Array.from(Buffer.from(char, 'utf8'), triplet).join('');
}

function triplet(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/**
 * The path for the backend, escaped for the request line: the service's path joined with the request's path, without
 * the matched text when the route strips it (Kong: `path_handling` v0). `matchedPath` is '' when the route has no
 * paths.
 */
export function composeUpstreamPath(
  servicePath: string | null,
  stripPath: boolean,
  matchedPath: string,
  normalisedPath: string,
): string {
  return escapePath(joinPaths(servicePath ?? '/', stripPath ? matchedPath : '', normalisedPath));
}

/** The rest of a path after the route: without the matched text when it strips it. Not escaped. */
export function remainingPath(stripped: string, normalisedPath: string): string {
  return joinPaths('/', stripped, normalisedPath);
}

function joinPaths(base: string, stripped: string, path: string): string {
  const baseEndsWithSlash = base.charCodeAt(base.length - 1) === SLASH;
  if (stripped === '') {
    if (baseEndsWithSlash) return base === '/' ? path : base + path.slice(1);
    return path === '/' ? base : base + path;
  }
  const rest = withoutDots(path.slice(stripped.length));
  if (rest === '') return joinNothing(base, baseEndsWithSlash, path);
  const restStartsWithSlash = rest.charCodeAt(0) === SLASH;
  if (baseEndsWithSlash) return restStartsWithSlash ? base.slice(0, -1) + rest : base + rest;
  return restStartsWithSlash ? base + rest : `${base}/${rest}`;
}

/** All of the path was stripped. */
function joinNothing(base: string, baseEndsWithSlash: boolean, path: string): string {
  if (base === '/') return base;
  const pathEndsWithSlash = path.charCodeAt(path.length - 1) === SLASH;
  if (baseEndsWithSlash) return pathEndsWithSlash ? base : base.slice(0, -1);
  return pathEndsWithSlash && path.length > 1 ? `${base}/` : base;
}

/**
 * A matched text that ends inside a segment can leave `.` or `..` at the start, which a backend would interpret as a
 * dot segment: `/route../req` without `/route`.
 */
function withoutDots(rest: string): string {
  if (rest.charCodeAt(0) !== DOT) return rest;
  const dots = rest.charCodeAt(1) === DOT ? 2 : 1;
  if (rest.length === dots) return '';
  return rest.charCodeAt(dots) === SLASH ? rest.slice(dots + 1) : rest;
}
