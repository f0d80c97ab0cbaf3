import type { RequestView } from '../../plugin-sdk/index.ts';

/** What a client says of its signature. */
export interface SignatureParameters {
  readonly username: string;
  readonly algorithm: string;
  /** Lower case, in the order in which they were signed. */
  readonly headers: readonly string[];
  /** As it was sent, in base64. */
  readonly signature: string;
}

const fields = ['proxy-authorization', 'authorization'] as const;
const scheme = /^[Hh]mac[ \t]+/;
const parameter = /[ \t]*([a-z]+)="([^"]+)"[ \t]*(,|$)/y;
const names = new Set(['username', 'algorithm', 'headers', 'signature']);
const signedName = /^@?[!#$%&'*+.^_`|~0-9a-z-]+$/;
const longestField = 8192;
const mostHeaders = 64;

/** The request has a field that credentials may be in, of whatever scheme. */
export function hasCredentials(request: RequestView): boolean {
  return fields.some((name) => request.header(name) !== null);
}

/** The fields that hold a signature. */
export function signatureFields(request: RequestView): readonly string[] {
  return fields.filter((name) => request.headerValues(name).some((value) => /^hmac(?:[ \t]|$)/i.test(value)));
}

/** The parameters of `Proxy-Authorization`, or else those of `Authorization`. Null: none are complete and unambiguous. */
export function signatureParameters(request: RequestView): SignatureParameters | null {
  for (const name of fields) {
    const values = request.headerValues(name);
    if (values.length !== 1) continue;
    const found = parseParameters(values[0]!);
    if (found !== null) return found;
  }
  return null;
}

/** Each of the four parameters exactly once, in any order, and no other one. */
export function parseParameters(field: string): SignatureParameters | null {
  const start = field.length > longestField ? null : scheme.exec(field);
  if (start === null) return null;
  const found = new Map<string, string>();
  let more = true;
  parameter.lastIndex = start[0].length;
  while (more) {
    const match = parameter.exec(field);
    if (match === null || !names.has(match[1]!) || found.has(match[1]!)) return null;
    found.set(match[1]!, match[2]!);
    more = match[3] === ',';
  }
  return found.size === names.size ? withHeaders(found) : null;
}

function withHeaders(found: ReadonlyMap<string, string>): SignatureParameters | null {
  const headers = found.get('headers')!.toLowerCase().split(' ');
  if (headers.length > mostHeaders || !headers.every((name) => signedName.test(name))) return null;
  return {
    // A field's text has one character for each byte.
    username: Buffer.from(found.get('username')!, 'latin1').toString('utf8'),
    algorithm: found.get('algorithm')!,
    headers,
    signature: found.get('signature')!,
  };
}
