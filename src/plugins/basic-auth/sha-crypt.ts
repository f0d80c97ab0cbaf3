import { createHash } from 'node:crypto';
import { cryptBytes } from './crypt-text.ts';

/** Default rounds. */
export const defaultRounds = 5000;

/**
 * The hash part of `$5$` (SHA-256) and `$6$` (SHA-512), after Ulrich Drepper's "Unix crypt using SHA-256 and SHA-512".
 * `salt` has at most 16 characters. The time it takes grows with the length of the password, too.
 */
export function shaCrypt(password: Uint8Array, salt: string, rounds: number, algorithm: 'sha256' | 'sha512'): string {
  const saltBytes = Buffer.from(salt, 'latin1');
  const sum = (...pieces: readonly Uint8Array[]): Buffer => {
    const hash = createHash(algorithm);
    for (const piece of pieces) hash.update(piece);
    return hash.digest();
  };
  let digest = firstDigest(password, saltBytes, algorithm, sum);
  const p = filled(sum(...repeated(password, password.length)), password.length);
  const s = filled(sum(...repeated(saltBytes, 16 + (digest[0] as number))), saltBytes.length);
  for (let round = 0; round < rounds; round++) {
    const odd = (round & 1) === 1;
    const pieces = [odd ? p : digest];
    if (round % 3 !== 0) pieces.push(s);
    if (round % 7 !== 0) pieces.push(p);
    pieces.push(odd ? digest : p);
    digest = sum(...pieces);
  }
  return cryptBytes(digest, algorithm === 'sha256' ? order256 : order512);
}

function firstDigest(
  password: Uint8Array,
  salt: Buffer,
  algorithm: string,
  sum: (...pieces: readonly Uint8Array[]) => Buffer,
): Buffer {
  const inner = sum(password, salt, password);
  const hash = createHash(algorithm).update(password).update(salt).update(filled(inner, password.length));
  for (let bits = password.length; bits > 0; bits >>= 1) hash.update((bits & 1) === 1 ? inner : password);
  return hash.digest();
}

function repeated(piece: Uint8Array, times: number): readonly Uint8Array[] {
  return Array.from({ length: times }, () => piece);
}

/** `length` bytes of a digest that is repeated as often as it takes. */
function filled(digest: Buffer, length: number): Buffer {
  return length === 0 ? Buffer.alloc(0) : Buffer.alloc(length, digest);
}

const order256 = rotating(10, [0, 10, 20], [2, 0, 1]).concat([[31, 30]]);
const order512 = rotating(21, [0, 21, 42], [1, 2, 0]).concat([[63]]);

/** Each group has the bytes after those of the previous one, in a rotating order. */
function rotating(count: number, first: readonly number[], turn: readonly number[]): number[][] {
  const groups = [[...first]];
  while (groups.length < count) {
    const last = groups.at(-1) ?? [];
    groups.push(turn.map((from) => (last[from] ?? 0) + 1));
  }
  return groups;
}
