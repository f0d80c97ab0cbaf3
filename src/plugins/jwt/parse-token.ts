import { isUtf8 } from 'node:buffer';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import { type Algorithm, algorithmOf } from './algorithms.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface Token {
  readonly text: string;
  readonly algorithm: Algorithm;
  readonly header: Claims;
  readonly claims: Claims;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Longest token, in characters. A longer one is not even decoded. */
const longest = 65_536;
/** Maximum depth of the claims; deeper objects are not parsed. */
const deepest = 64;

const encoded = /^[A-Za-z0-9_-]*$/;

interface Header {
  readonly algorithm: Algorithm;
  readonly members: Claims;
}

/** Tokens of an issuer have few different headers, so each is parsed once. */
const headers = new BoundedCache<string, Header>(128);
const maxHeaderLength = 1024;

/** Decodes a token (RFC 7515 section 7.1), or returns its problem in Kong's words. Does not verify the signature. */
export function parseToken(text: string): Token | string {
  const first = text.indexOf('.');
  const second = text.indexOf('.', first + 1);
  if (text.length > longest || first < 0 || second < 0) return 'Bad token; invalid JSON';
  const header = readHeader(text.slice(0, first));
  const claims = decodeObject(text.slice(first + 1, second));
  if (header === null || claims === null) return 'Bad token; invalid JSON';
  if (typeof header === 'string') return header;
  const signature = decode(text.slice(second + 1));
  if (signature === null || signature.length === 0) return 'Bad token; invalid signature';
  const { algorithm, members } = header;
  return { text, algorithm, header: members, claims, signed: Buffer.from(text.slice(0, second), 'latin1'), signature };
}

function readHeader(part: string): Header | string | null {
  const known = headers.get(part);
  if (known !== undefined) return known;
  const members = decodeObject(part);
  if (members === null) return null;
  const algorithm = algorithmOf(members['alg']);
  if (algorithm === null) return 'Bad token; invalid alg';
  // A critical extension that is not supported (RFC 7515 section 4.1.11).
  if (members['crit'] !== undefined || members['b64'] === false) return 'Bad token; invalid alg';
  const header = { algorithm, members };
  if (part.length <= maxHeaderLength) headers.set(part, header);
  return header;
}

/** Base64url without padding; null for anything else, bits beyond the last byte included. */
function decode(part: string): Buffer | null {
  const rest = part.length % 4;
  if (rest === 1 || !encoded.test(part)) return null;
  if (rest !== 0 && !lastOf[rest]!.has(part.charCodeAt(part.length - 1))) return null;
  return Buffer.from(part, 'base64url');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** By the length over a multiple of four: the last characters that leave no bit over. */
const lastOf: readonly (ReadonlySet<number> | null)[] = [null, null, everyNth(16), everyNth(4)];

function everyNth(step: number): ReadonlySet<number> {
  const codes = new Set<number>();
  for (let at = 0; at < alphabet.length; at += step) codes.add(alphabet.charCodeAt(at));
  return codes;
}

/** A JSON object without repeated members: two readers could each take a different one. */
function decodeObject(part: string): Claims | null {
  const bytes = decode(part);
  if (bytes === null || !isUtf8(bytes)) return null;
  const text = bytes.toString();
  const members = countMembers(text);
  if (members < 0) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return members === Object.keys(value).length ? (value as Claims) : null;
  } catch {
    return null;
  }
}

/** Members of the outermost object, if the text is JSON; -1 when it is nested too deep to be parsed. */
function countMembers(text: string): number {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at);
    else if (code === 123 || code === 91) {
      if (++depth > deepest) return -1;
    } else if (code === 125 || code === 93) depth--;
    else if (code === 58 && depth === 1) members++;
  }
  return members;
}

/** Index of the quotation mark that ends the string. */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

/** After an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === 92) before--;
  return (at - before) % 2 === 0;
}
