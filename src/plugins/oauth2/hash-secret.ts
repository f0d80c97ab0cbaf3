import { pbkdf2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/*
 * Hashed client secrets in the PHC format: `$scrypt$ln=14,r=8,p=1$<salt>$<hash>`, and the hashes of Kong,
 * `$pbkdf2-sha512$i=10000,l=32$<salt>$<hash>`, so that its credentials can be imported. Base64 without padding.
 */

const cost = { ln: 14, r: 8, p: 1 } as const;
const hashBytes = 32;
const shape =
  /^\$(scrypt|pbkdf2-sha512)\$([a-z0-9=,]{1,40})\$([A-Za-z0-9+/]{8,172})={0,2}\$([A-Za-z0-9+/]{20,172})={0,2}$/;

interface Parsed {
  readonly derive: (secret: string) => Promise<Buffer>;
  readonly hash: Buffer;
}

/** True for hashes of `hashSecret` and of Kong. */
export function isHashed(text: string): boolean {
  return parse(text) !== null;
}

/** Takes about 40 ms in the thread pool, and 16 MB. */
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await deriveScrypt(secret, salt, cost.ln, cost.r, cost.p, hashBytes);
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** Also false if `hashed` is not a hash. */
export async function matchesHash(hashed: string, secret: string): Promise<boolean> {
  const parsed = parse(hashed);
  return parsed !== null && timingSafeEqual(await parsed.derive(secret), parsed.hash);
}

function parse(text: string): Parsed | null {
  const found = shape.exec(text);
  if (found === null) return null;
  const [, kind, list = '', saltText = '', hashText = ''] = found;
  const salt = Buffer.from(saltText, 'base64');
  const hash = Buffer.from(hashText, 'base64');
  const costs = new Map(list.split(',').map((pair) => pair.split('=', 2) as [string, string]));
  const within = (name: string, low: number, high: number): number => {
    const value = Number(costs.get(name));
    return Number.isInteger(value) && value >= low && value <= high ? value : 0;
  };
  if (kind === 'scrypt') {
    const [ln, r, p] = [within('ln', 10, 17), within('r', 1, 16), within('p', 1, 8)];
    if (ln * r * p === 0) return null;
    return { hash, derive: (secret) => deriveScrypt(secret, salt, ln, r, p, hash.byteLength) };
  }
  const iterations = within('i', 1000, 1_000_000);
  if (iterations === 0) return null;
  return { hash, derive: (secret) => derivePbkdf2(secret, salt, iterations, hash.byteLength) };
}

function deriveScrypt(secret: string, salt: Buffer, ln: number, r: number, p: number, length: number): Promise<Buffer> {
  const N = 2 ** ln;
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, length, { N, r, p, maxmem: 256 * N * r }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function derivePbkdf2(secret: string, salt: Buffer, iterations: number, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(secret, salt, iterations, length, 'sha512', (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
