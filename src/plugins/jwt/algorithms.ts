import { constants, createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto';

/** One of the algorithms of RFC 7518 section 3.1 and RFC 8037 that tokens may be signed with. */
export interface Algorithm {
  readonly name: string;
  readonly symmetric: boolean;
  /** Whether the key is valid for this algorithm and strong enough. */
  takes(key: KeyObject): boolean;
  /** Never throws, whatever the signature is. */
  verify(key: KeyObject, signed: Buffer, signature: Buffer): boolean;
}

function hmac(name: string, hash: string): Algorithm {
  return {
    name,
    symmetric: true,
    takes: (key) => key.type === 'secret',
    verify(key, signed, signature) {
      const expected = createHmac(hash, key).update(signed).digest();
      return expected.length === signature.length && timingSafeEqual(expected, signature);
    },
  };
}

function rsa(name: string, hash: string, pss: boolean): Algorithm {
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;
  return asymmetric(
    name,
    (key) => key.asymmetricKeyType === 'rsa' || (pss && key.asymmetricKeyType === 'rsa-pss'),
    (key, signed, signature) =>
      pss ? verify(hash, signed, { key, padding, saltLength }, signature) : verify(hash, signed, key, signature),
  );
}

/** The signature is the two numbers, each of the curve's length (RFC 7518 section 3.4). */
function ecdsa(name: string, hash: string, curve: string, length: number): Algorithm {
  return asymmetric(
    name,
    (key) => key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve,
    (key, signed, signature) =>
      signature.length === length && verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature),
  );
}

function asymmetric(name: string, takes: (key: KeyObject) => boolean, check: Algorithm['verify']): Algorithm {
  return {
    name,
    symmetric: false,
    takes: (key) => key.type === 'public' && takes(key),
    verify(key, signed, signature) {
      try {
        return check(key, signed, signature);
      } catch {
        return false;
      }
    },
  };
}

const all: readonly Algorithm[] = [
  hmac('HS256', 'sha256'),
  hmac('HS384', 'sha384'),
  hmac('HS512', 'sha512'),
  rsa('RS256', 'sha256', false),
  rsa('RS384', 'sha384', false),
  rsa('RS512', 'sha512', false),
  rsa('PS256', 'sha256', true),
  rsa('PS384', 'sha384', true),
  rsa('PS512', 'sha512', true),
  ecdsa('ES256', 'sha256', 'prime256v1', 64),
  ecdsa('ES384', 'sha384', 'secp384r1', 96),
  ecdsa('ES512', 'sha512', 'secp521r1', 132),
  asymmetric(
    'EdDSA',
    (key) => key.asymmetricKeyType === 'ed25519' || key.asymmetricKeyType === 'ed448',
    (key, signed, signature) => verify(null, signed, key, signature),
  ),
];

const byName = new Map(all.map((algorithm) => [algorithm.name, algorithm]));

export const algorithmNames = all.map(({ name }) => name);

export function algorithmOf(name: unknown): Algorithm | null {
  return typeof name === 'string' ? (byName.get(name) ?? null) : null;
}
