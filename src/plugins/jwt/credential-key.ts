import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import type { EntityRow } from '../../plugin-sdk/index.ts';
import type { Algorithm } from './algorithms.ts';

/** Finds the key that verifies tokens of a credential; null when it has none for the algorithm. */
export type KeyOf = (credential: EntityRow, algorithm: Algorithm) => KeyObject | null;

/** Keys are made once for each version of a credential. */
export function credentialKeys(secretIsBase64: boolean): KeyOf {
  const known = new WeakMap<EntityRow, KeyObject | null>();
  return (credential, algorithm) => {
    let key = known.get(credential);
    if (key === undefined) {
      key = algorithm.symmetric ? secretKey(credential, secretIsBase64) : publicKey(credential);
      if (key !== null && !algorithm.takes(key)) key = null;
      known.set(credential, key);
    }
    return key;
  };
}

function secretKey({ secret }: EntityRow, isBase64: boolean): KeyObject | null {
  if (typeof secret !== 'string' || secret === '') return null;
  if (!isBase64) return createSecretKey(secret, 'utf8');
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(secret)) return null;
  const bytes = Buffer.from(secret, 'base64');
  return bytes.length === 0 ? null : createSecretKey(bytes);
}

function publicKey({ rsa_public_key: pem }: EntityRow): KeyObject | null {
  try {
    return typeof pem === 'string' ? createPublicKey(pem) : null;
  } catch {
    return null;
  }
}
