import { hash } from 'node:crypto';

/** The stored hash of a key: SHA-256, 64 hexadecimal digits. A random key needs neither salt nor a slow hash. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}
