import { createHash, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from './password-hash.ts';

const digestBytes = 20;

/** Whether the password matches a hash of one SHA-1, salted or not. `consumerId` is the salt of Kong's hashes. */
export function matchesQuickly(password: Uint8Array, { scheme, text }: PasswordHash, consumerId: string): boolean {
  if (scheme === 'kong') {
    const expected = Buffer.from(text.slice(text.lastIndexOf('$') + 1), 'hex');
    return timingSafeEqual(createHash('sha1').update(password).update(consumerId).digest(), expected);
  }
  // `{SHA}` is `{SSHA}` without a salt after the digest.
  const stored = Buffer.from(text.slice(text.indexOf('}') + 1), 'base64');
  const digest = createHash('sha1').update(password).update(stored.subarray(digestBytes)).digest();
  return timingSafeEqual(digest, stored.subarray(0, digestBytes));
}
