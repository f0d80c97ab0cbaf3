/*
 * The gateway forwards encoded separators and path parameters unchanged. Servers interpret them differently: one reads
 * `/x%2F..%2Fadmin` or `/x/..;/admin` as `/admin`, another does not.
 */

/** All servers read a path without any of these in the same way. */
const ambiguous = /[%;\\\xc0\xc1]/;
const percent = /%([0-9A-Fa-f]{2})/g;
const parameters = /;[^/]*/g;
/** `/`, `.` and a backslash in two bytes, which lenient decoders of UTF-8 accept. */
const overlong = /\xc0\xaf|\xc0\xae|\xc1\x9c/g;
const meanings: Readonly<Record<string, string>> = { '\xc0\xaf': '/', '\xc0\xae': '.', '\xc1\x9c': '\\' };
/** A proxy behind the gateway and the server itself may decode each. */
const maxDecodings = 3;

let lastPath = '';
let lastReadings: readonly string[] = [''];

/** All paths that a server could read a normalised path as; the path itself comes first. Each rule of a request calls it. */
export function pathReadings(path: string): readonly string[] {
  if (!ambiguous.test(path)) return [path];
  if (path !== lastPath) {
    lastReadings = readingsOf(path);
    lastPath = path;
  }
  return lastReadings;
}

function readingsOf(path: string): readonly string[] {
  const readings = new Set([path]);
  let decoded = [path];
  for (let round = 0; round <= maxDecodings; round++) {
    for (const text of decoded) addReadings(readings, text);
    const next = decoded.flatMap((text) => [decode(text), decode(withoutParameters(text))]);
    if (next.every((text) => decoded.includes(text))) break;
    decoded = [...new Set(next)];
  }
  return [...readings];
}

function addReadings(readings: Set<string>, text: string): void {
  const slashes = text.replaceAll('\\', '/');
  for (const one of [text, slashes, withoutParameters(text), withoutParameters(slashes)]) {
    readings.add(one);
    readings.add(resolved(one));
  }
}

function decode(text: string): string {
  return text
    .replace(percent, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(overlong, (bytes) => meanings[bytes] ?? bytes);
}

function withoutParameters(text: string): string {
  return text.replace(parameters, '');
}

/** Without empty and dot segments. */
function resolved(text: string): string {
  const segments: string[] = [];
  const all = text.split('/').slice(1);
  for (const [at, segment] of all.entries()) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
    // `/a/` and `/a/.` end with a slash, `/a//` with one.
    if (at === all.length - 1 && (segment === '' || segment === '.' || segment === '..')) segments.push('');
  }
  return `/${segments.join('/')}`;
}
