import { type Bytes, fromBase64, needCrypto, TokenError, toBase64Url, utf8 } from './bytes.ts';

export const jwtAlgorithms = [
  ...['HS256', 'HS384', 'HS512'],
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
] as const;

export interface JwtParts {
  readonly algorithm: string;
  /** The secret of HS algorithms; otherwise a private key in PEM (`BEGIN PRIVATE KEY`). */
  readonly key: string;
  /** The secret is the base64 of its bytes. */
  readonly keyIsBase64?: boolean;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Signs a token in the browser. Rejects with a `TokenError` that says what is wrong with the key. */
export async function signJwt({ algorithm, key, keyIsBase64 = false, claims }: JwtParts): Promise<string> {
  const subtle = needCrypto();
  const text = `${encoded({ alg: algorithm, typ: 'JWT' })}.${encoded(claims)}`;
  const signer = signerOf(algorithm);
  const bytes = algorithm.startsWith('HS') ? secretBytes(key, keyIsBase64) : pkcs8Bytes(key);
  const format = algorithm.startsWith('HS') ? 'raw' : 'pkcs8';
  const imported = await subtle.importKey(format, bytes, signer.imported, false, ['sign']).catch(() => {
    throw new TokenError(`The key is not one for ${algorithm}, or this browser does not support it.`);
  });
  return `${text}.${toBase64Url(new Uint8Array(await subtle.sign(signer.signing, imported, utf8(text))))}`;
}

function encoded(value: Readonly<Record<string, unknown>>): string {
  return toBase64Url(utf8(JSON.stringify(value)));
}

interface Signer {
  readonly imported: { readonly name: string; readonly hash?: string; readonly namedCurve?: string };
  readonly signing: { readonly name: string; readonly hash?: string; readonly saltLength?: number };
}

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

function signerOf(algorithm: string): Signer {
  const hash = `SHA-${algorithm.slice(2)}`;
  const kind = algorithm.slice(0, 2);
  if (kind === 'HS') return { imported: { name: 'HMAC', hash }, signing: { name: 'HMAC' } };
  if (kind === 'RS') return { imported: { name: 'RSASSA-PKCS1-v1_5', hash }, signing: { name: 'RSASSA-PKCS1-v1_5' } };
  if (kind === 'PS')
    return {
      imported: { name: 'RSA-PSS', hash },
      signing: { name: 'RSA-PSS', saltLength: Number(algorithm.slice(2)) / 8 },
    };
  const namedCurve = curves[algorithm];
  if (namedCurve !== undefined) return { imported: { name: 'ECDSA', namedCurve }, signing: { name: 'ECDSA', hash } };
  if (algorithm === 'EdDSA') return { imported: { name: 'Ed25519' }, signing: { name: 'Ed25519' } };
  throw new TokenError(`There is no algorithm ${algorithm}.`);
}

function secretBytes(key: string, isBase64: boolean): Bytes {
  if (key === '') throw new TokenError('Enter the secret.');
  if (!isBase64) return utf8(key);
  const bytes = fromBase64(key);
  if (bytes === null) throw new TokenError('The secret is not base64.');
  return bytes;
}

/** WebCrypto reads PKCS #8 only. */
function pkcs8Bytes(pem: string): Bytes {
  const found = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]+?)-----END \1-----/.exec(pem);
  const [, label = '', body = ''] = found ?? [];
  if (found === null) throw new TokenError('Paste a private key in PEM: -----BEGIN PRIVATE KEY----- ...');
  if (label !== 'PRIVATE KEY')
    throw new TokenError(`The key begins with ${label}. Convert it: openssl pkcs8 -topk8 -nocrypt -in key.pem`);
  const bytes = fromBase64(body);
  if (bytes === null) throw new TokenError('The key is not valid PEM.');
  return bytes;
}
