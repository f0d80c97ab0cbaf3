import { type Algorithm, algorithmOf } from './algorithms.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface Token {
  readonly algorithm: Algorithm;
  readonly header: Claims;
  readonly claims: Claims;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Longest token, in characters. A longer one is not even decoded. */
const longest = 65_536;
/** An object nested deeper than this is no set of claims, and is not parsed. */
const deepest = 64;

const encoded = /^[A-Za-z0-9_-]*$/;

/** Decodes a token (RFC 7515 section 7.1), or says what is wrong with it in Kong's words. Checks no signature. */
export function parseToken(text: string): Token | string {
  const first = text.indexOf('.');
  const second = text.indexOf('.', first + 1);
  if (text.length > longest || first < 0 || second < 0) return 'Bad token; invalid JSON';
  const header = decodeObject(text.slice(0, first));
  const claims = decodeObject(text.slice(first + 1, second));
  if (header === null || claims === null) return 'Bad token; invalid JSON';
  const algorithm = algorithmOf(header['alg']);
  if (algorithm === null) return 'Bad token; invalid alg';
  // An extension that has to be understood and is not (RFC 7515 section 4.1.11).
  if (header['crit'] !== undefined || header['b64'] === false) return 'Bad token; invalid alg';
  const signature = decode(text.slice(second + 1));
  if (signature === null || signature.length === 0) return 'Bad token; invalid signature';
  return { algorithm, header, claims, signed: Buffer.from(text.slice(0, second), 'latin1'), signature };
}

/** Base64url without padding; null for anything else, bits beyond the last byte included. */
function decode(part: string): Buffer | null {
  if (!encoded.test(part) || part.length % 4 === 1) return null;
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : null;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A JSON object without a member that is there twice: of two readers each could take another one. */
function decodeObject(part: string): Claims | null {
  const bytes = decode(part);
  if (bytes === null) return null;
  try {
    const text = utf8.decode(bytes);
    if (isTooDeep(text)) return null;
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return countMembers(text) === Object.keys(value).length ? (value as Claims) : null;
  } catch {
    return null;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code === 123 || code === 91) && ++depth > deepest) return true;
    else if (code === 125 || code === 93) depth--;
  }
  return false;
}

/** Members of the outermost object of a valid JSON text. */
function countMembers(text: string): number {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at);
    else if (code === 123 || code === 91) depth++;
    else if (code === 125 || code === 93) depth--;
    else if (code === 58 && depth === 1) members++;
  }
  return members;
}

function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 92) at++;
    else if (code === 34) return at;
  }
  return text.length;
}
