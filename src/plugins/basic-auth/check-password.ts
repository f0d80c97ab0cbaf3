import { hash, timingSafeEqual } from 'node:crypto';
import bcrypt from 'bcryptjs';
import { desCrypt } from './des-crypt.ts';
import { md5Crypt } from './md5-crypt.ts';
import { type PasswordHash, parsePasswordHash } from './password-hash.ts';
import { matchesScrypt } from './scrypt-hash.ts';
import { defaultRounds, shaCrypt } from './sha-crypt.ts';

/** Whether the password matches a costly hash. Takes as long as the hash demands: only for the threads of the pool. */
export function matchesSlowly(password: Uint8Array, text: string): boolean {
  const parsed = parsePasswordHash(text);
  return parsed !== null && check(Buffer.from(password), parsed);
}

function check(password: Buffer, { scheme, text }: PasswordHash): boolean {
  switch (scheme) {
    case 'bcrypt':
      // `$2a$`, `$2b$` and `$2y$` differ only in bugs of old implementations.
      return bcrypt.compareSync(password.toString('utf8'), text);
    case 'scrypt':
      return matchesScrypt(password, text);
    case 'des':
      return equal(desCrypt(password, text.slice(0, 2)), text);
    case 'md5':
    case 'sha-crypt':
      return equal(modularCrypt(password, text), text);
    default:
      return false;
  }
}

function modularCrypt(password: Buffer, text: string): string {
  const parts = text.split('$');
  const id = parts[1];
  const rounds = parts[2]?.startsWith('rounds=') === true ? Number(parts[2].slice(7)) : defaultRounds;
  const salt = parts.at(-2) ?? '';
  const prefix = text.slice(0, text.lastIndexOf('$') + 1);
  if (id === '5') return prefix + shaCrypt(password, salt, rounds, 'sha256');
  if (id === '6') return prefix + shaCrypt(password, salt, rounds, 'sha512');
  return prefix + md5Crypt(password, salt, id === 'apr1' ? '$apr1$' : '$1$');
}

function equal(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}
