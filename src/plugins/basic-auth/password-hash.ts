import { defaultRounds } from './sha-crypt.ts';

/** A stored password: the hash, and the cost of a check against it. */
export interface PasswordHash {
  readonly text: string;
  readonly scheme: 'bcrypt' | 'des' | 'kong' | 'md5' | 'scrypt' | 'sha' | 'sha-crypt';
  /** Approximate milliseconds. Below 1: checked in the worker, otherwise in a separate thread. */
  readonly work: number;
}

/** Higher costs would let one login keep a thread busy for seconds. */
const maxBcryptCost = 14;
const maxRounds = 1_000_000;

const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const md5 = /^\$(?:1|apr1)\$[./A-Za-z0-9]{0,8}\$[./A-Za-z0-9]{22}$/;
const shaCrypt =
  /^\$(?:5\$(?:rounds=(\d{1,9})\$)?[^$:\s]{0,16}\$[./A-Za-z0-9]{43}|6\$(?:rounds=(\d{1,9})\$)?[^$:\s]{0,16}\$[./A-Za-z0-9]{86})$/;
const sha = /^\{SHA\}[A-Za-z0-9+/]{27}=$/;
const saltedSha = /^\{SSHA\}(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const des = /^[./A-Za-z0-9]{13}$/;
const kong = /^\$kong-sha1\$[0-9a-f]{40}$/;
export const scryptFormat = /^\$scrypt\$ln=(\d\d),r=8,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** Null when it is not a supported hash. */
export function parsePasswordHash(text: string): PasswordHash | null {
  const of = (scheme: PasswordHash['scheme'], work: number): PasswordHash => ({ text, scheme, work });
  const cost = bcrypt.exec(text)?.[1];
  if (cost !== undefined) return inRange(Number(cost), 4, maxBcryptCost) ? of('bcrypt', 2 ** Number(cost) / 16) : null;
  if (md5.test(text)) return of('md5', 2);
  const stretched = shaCrypt.exec(text);
  if (stretched !== null) {
    const rounds = Number(stretched[1] ?? stretched[2] ?? defaultRounds);
    return inRange(rounds, 1000, maxRounds) ? of('sha-crypt', rounds / 400) : null;
  }
  const ln = scryptFormat.exec(text)?.[1];
  if (ln !== undefined) return inRange(Number(ln), 10, 17) ? of('scrypt', 2 ** Number(ln) / 400) : null;
  if (sha.test(text) || (saltedSha.test(text) && text.length >= 6 + 32)) return of('sha', 0);
  if (kong.test(text)) return of('kong', 0);
  return des.test(text) ? of('des', 1) : null;
}

/** A hash that cannot be a clear-text password, unlike the thirteen letters of crypt(3). */
export function isUnmistakableHash(text: string): boolean {
  const parsed = parsePasswordHash(text);
  return parsed !== null && parsed.scheme !== 'des';
}

function inRange(value: number, low: number, high: number): boolean {
  return value >= low && value <= high;
}
