import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export type Members = Readonly<Record<string, unknown>>;

export function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** A token with any header and payload (objects or texts), signed with `alg`. */
export function tokenOf(alg: string, key: KeyObject | string, payload: Members | string, header: Members = {}): string {
  const signed = `${encode({ alg, typ: 'JWT', ...header })}.${encode(payload)}`;
  return `${signed}.${signatureOf(alg, key, signed).toString('base64url')}`;
}

export function signatureOf(alg: string, key: KeyObject | string, signed: string): Buffer {
  const hash = `sha${alg.slice(2)}`;
  const bytes = Buffer.from(signed);
  if (alg.startsWith('HS')) return createHmac(hash, key).update(bytes).digest();
  if (typeof key === 'string') throw new Error('a private key is needed');
  if (alg === 'EdDSA') return sign(null, bytes, key);
  if (alg.startsWith('ES')) return sign(hash, bytes, { key, dsaEncoding: 'ieee-p1363' });
  const padding = alg.startsWith('PS') ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  return sign(hash, bytes, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST });
}

export interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  /** PEM of the public key. */
  readonly pem: string;
}

export function pairFor(alg: string): Pair {
  const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };
  const namedCurve = curves[alg];
  const pair =
    alg === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : namedCurve === undefined
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve });
  return { ...pair, pem: String(pair.publicKey.export({ type: 'spki', format: 'pem' })) };
}
