import { constants, type KeyObject, verify } from 'node:crypto';
import { childrenOf, contentOf, type Der, oidOf, rawOf, tags } from './der.ts';

interface Scheme {
  /** Null: the algorithm has a hash of its own. */
  readonly hash: string | null;
  readonly pss?: true;
}

/** Accepted signature algorithms. MD5 and SHA-1 can be forged, so they are excluded. */
const schemes: Readonly<Record<string, Scheme>> = {
  '1.2.840.113549.1.1.11': { hash: 'sha256' },
  '1.2.840.113549.1.1.12': { hash: 'sha384' },
  '1.2.840.113549.1.1.13': { hash: 'sha512' },
  '1.2.840.10045.4.3.2': { hash: 'sha256' },
  '1.2.840.10045.4.3.3': { hash: 'sha384' },
  '1.2.840.10045.4.3.4': { hash: 'sha512' },
  '1.3.101.112': { hash: null },
  '1.3.101.113': { hash: null },
};
const pss = '1.2.840.113549.1.1.10';
const pssHashes: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const minRsaBits = 2048;

/** The scheme of an AlgorithmIdentifier; null when it is unknown or too weak. */
export function signatureScheme(algorithm: Der): Scheme | null {
  const [id, parameters] = childrenOf(algorithm);
  const name = oidOf(id);
  if (name !== pss) return schemes[name] ?? null;
  // Without a hash in the parameters it is SHA-1 (RFC 4055, 3.1).
  const field = parameters?.tag === tags.sequence ? childrenOf(parameters).find(({ tag }) => tag === 0xa0) : undefined;
  const inner = field === undefined ? undefined : childrenOf(field)[0];
  const hash = inner === undefined ? undefined : pssHashes[oidOf(childrenOf(inner)[0])];
  return hash === undefined ? null : { hash, pss: true };
}

/** Whether the key is long enough. */
export function isStrong({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type === 'rsa' || type === 'rsa-pss') return (details?.modulusLength ?? 0) >= minRsaBits;
  return type === 'ec' || type === 'ed25519' || type === 'ed448';
}

/** Whether the key made this signature (a BIT STRING) of the element. */
export function isSigned(element: Der, algorithm: Der, signature: Der, key: KeyObject): boolean {
  try {
    const scheme = signatureScheme(algorithm);
    const bits = contentOf(signature);
    if (scheme === null || bits[0] !== 0 || !isStrong(key)) return false;
    const padding = scheme.pss === true ? pssPadding : {};
    return verify(scheme.hash, rawOf(element), { key, ...padding }, bits.subarray(1));
  } catch {
    // A key of another type, or malformed parameters.
    return false;
  }
}

const pssPadding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
