import { hash } from 'node:crypto';

/** What is stored of a key to find it by: SHA-256, 64 hexadecimal digits. A random key needs no salt and no slow hash. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}
