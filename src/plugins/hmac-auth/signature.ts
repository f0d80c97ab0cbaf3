import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { RequestView } from '../../plugin-sdk/index.ts';

export const algorithmNames = ['hmac-sha1', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const;

const hashes: ReadonlyMap<string, string> = new Map(algorithmNames.map((name) => [name, name.slice('hmac-'.length)]));
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The text that a client has signed: a line for each name. Null when a header is repeated: the signature could cover one of
 * them, and the backend could read another one.
 */
export function signingText(request: RequestView, names: readonly string[]): string | null {
  let text = '';
  for (const name of names) {
    const line = signedLine(request, name);
    if (line === null) return null;
    text += text === '' ? line : `\n${line}`;
  }
  return text;
}

function signedLine(request: RequestView, name: string): string | null {
  if (name === 'request-line') return `${request.method} ${requestTarget(request)} HTTP/${request.httpVersion}`;
  if (name === '@request-target') return `${name}: ${request.method.toLowerCase()} ${requestTarget(request)}`;
  const values = request.headerValues(name);
  if (values.length > 1) return null;
  // A missing header is signed as missing.
  return values.length === 0 ? `${name}:` : `${name}: ${values[0]}`;
}

function requestTarget({ rawPath, query }: RequestView): string {
  return query === '' ? rawPath : `${rawPath}?${query}`;
}

/** Whether the signature matches the text, in which each character is a byte. Constant time. */
export function isSignatureOf(text: string, algorithm: string, secret: KeyObject, signature: string): boolean {
  const hash = hashes.get(algorithm);
  if (hash === undefined) return false;
  const expected = createHmac(hash, secret).update(text, 'latin1').digest();
  const given = decodeBase64(signature);
  return given !== null && given.length === expected.length && timingSafeEqual(given, expected);
}

/** Null for anything but base64 with its padding. */
export function decodeBase64(text: string): Buffer | null {
  if (!base64.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
