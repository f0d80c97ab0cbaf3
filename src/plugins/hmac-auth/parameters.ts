import type { RequestView } from '../../plugin-sdk/index.ts';

/** The parameters of a client's signature. */
export interface SignatureParameters {
  readonly username: string;
  readonly algorithm: string;
  /** Lower case, in the order in which they were signed. */
  readonly headers: readonly string[];
  /** Unchanged, in base64. */
  readonly signature: string;
}

const fields = ['proxy-authorization', 'authorization'] as const;
const scheme = /^[Hh]mac[ \t]+/;
const parameter = /[ \t]*([a-z]+)="([^"]+)"[ \t]*(,|$)/y;
const names = new Set(['username', 'algorithm', 'headers', 'signature']);
const signedName = /^@?[!#$%&'*+.^_`|~0-9a-z-]+$/;
const maxFieldLength = 8192;
const maxHeaders = 64;

/** Whether the request has a field for credentials, of any scheme. */
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
  const start = field.length > maxFieldLength ? null : scheme.exec(field);
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
  if (headers.length > maxHeaders || !headers.every((name) => signedName.test(name))) return null;
  return {
    // A field's text has one character for each byte.
    username: Buffer.from(found.get('username')!, 'latin1').toString('utf8'),
    algorithm: found.get('algorithm')!,
    headers,
    signature: found.get('signature')!,
  };
}
