import { randomBytes, scrypt, scryptSync, timingSafeEqual } from 'node:crypto';
import { scryptFormat } from './password-hash.ts';

/*
 * How passwords of consumers are stored: `$scrypt$ln=14,r=8,p=1$<salt>$<hash>`, the PHC format, base64 without padding.
 * Checking one takes 16 MB for about 40 ms.
 */

const ln = 14;
const hashBytes = 32;
const saltBytes = 16;

/**
 * For the control plane: libuv's thread pool does the work. If `stored` is a hash of the password, it is kept,
 * so that a second write of the same credential changes nothing.
 */
export async function scryptHash(password: string, stored: unknown = null): Promise<string> {
  const [, cost, storedSalt, expected] = scryptFormat.exec(typeof stored === 'string' ? stored : '') ?? [];
  if (Number(cost) === ln && storedSalt !== undefined && expected !== undefined) {
    const key = await derive(password, Buffer.from(storedSalt, 'base64'));
    if (timingSafeEqual(key, Buffer.from(expected, 'base64'))) return String(stored);
  }
  const salt = randomBytes(saltBytes);
  return write(salt, await derive(password, salt));
}

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, hashBytes, options(ln), (error, derived) => {
      if (error === null) resolve(derived);
      else reject(error);
    });
  });
}

/** A hash that no password matches, with the same cost as the others. */
export function unmatchableScrypt(): string {
  return write(randomBytes(saltBytes), randomBytes(hashBytes));
}

export function matchesScrypt(password: Buffer, text: string): boolean {
  const [, cost, salt, expected] = scryptFormat.exec(text) ?? [];
  if (cost === undefined || salt === undefined || expected === undefined) return false;
  const key = scryptSync(password, Buffer.from(salt, 'base64'), hashBytes, options(Number(cost)));
  return timingSafeEqual(key, Buffer.from(expected, 'base64'));
}

function options(exponent: number) {
  const N = 2 ** exponent;
  return { N, r: 8, p: 1, maxmem: 2048 * N };
}

function write(salt: Buffer, key: Buffer): string {
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
  return `$scrypt$ln=${ln},r=8,p=1$${text(salt)}$${text(key)}`;
}
