import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Begins every token, so that scanners find tokens in repositories and logs: `sgadm_[0-9A-Za-z]{49}`. */
export const tokenPrefix = 'sgadm_';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Digits that 256 bits and a CRC-32 have in base 62. */
const secretDigits = 43;
const checksumDigits = 6;
const shape = /^sgadm_[0-9A-Za-z]{49}$/;

/** Characters of a token that are stored in clear: enough to recognise it, and useless for guessing the rest. */
const shownCharacters = tokenPrefix.length + 4;

/** A new token: the prefix, 256 random bits, and a checksum of both, by which scanners tell a token from similar text. */
export function generateToken(): string {
  const secret = tokenPrefix + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretDigits);
  return secret + checksumOf(secret);
}

/** False for text that no node has ever issued. It says nothing about whether the token is known. */
export function isTokenShaped(text: string): boolean {
  return shape.test(text) && text.endsWith(checksumOf(text.slice(0, -checksumDigits)));
}

/**
 * What is stored of a token, as 64 hexadecimal digits. One SHA-256 is enough: 256 random bits cannot be guessed from the hash, so there is
 * nothing that a slow hash would protect, and each request of a client computes it.
 */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function shownPrefix(token: string): string {
  return token.slice(0, shownCharacters);
}

function checksumOf(text: string): string {
  return base62(BigInt(crc32(text)), checksumDigits);
}

function base62(value: bigint, digits: number): string {
  let text = '';
  for (let rest = value; text.length < digits; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text;
  return text;
}
