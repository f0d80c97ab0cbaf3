import { createHash } from 'node:crypto';
import { cryptBytes } from './crypt-text.ts';

const rounds = 1000;
const order = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5], [11]];

/** The hash part of `$1$` (FreeBSD's crypt) and of Apache's `$apr1$`, which differ only in `magic`. */
export function md5Crypt(password: Uint8Array, salt: string, magic: '$1$' | '$apr1$'): string {
  const inner = md5([password, salt, password]);
  const start = createHash('md5').update(password).update(magic).update(salt, 'latin1');
  for (let left = password.length; left > 0; left -= 16) start.update(inner.subarray(0, Math.min(16, left)));
  const first = Buffer.from(password.subarray(0, 1));
  for (let bits = password.length; bits > 0; bits >>= 1) start.update((bits & 1) === 1 ? zero : first);
  let digest: Buffer = start.digest();
  for (let round = 0; round < rounds; round++) {
    const odd = (round & 1) === 1;
    const pieces: Piece[] = [odd ? password : digest];
    if (round % 3 !== 0) pieces.push(salt);
    if (round % 7 !== 0) pieces.push(password);
    pieces.push(odd ? digest : password);
    digest = md5(pieces);
  }
  return cryptBytes(digest, order);
}

type Piece = Uint8Array | string;
const zero = Buffer.alloc(1);

function md5(pieces: readonly Piece[]): Buffer {
  const hash = createHash('md5');
  for (const piece of pieces) {
    if (typeof piece === 'string') hash.update(piece, 'latin1');
    else hash.update(piece);
  }
  return hash.digest();
}
