import { createHash, generateKeyPair, type KeyObject, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import * as der from '../../plugin-kit/der/index.ts';

const generate = promisify(generateKeyPair);

export interface KeyKind {
  readonly type: 'rsa' | 'ecc';
  readonly rsaBits: number;
}

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Generating an RSA key takes one or two seconds, on another thread. */
export async function newKeyPair({ type, rsaBits }: KeyKind): Promise<KeyPair> {
  if (type === 'rsa') return generate('rsa', { modulusLength: rsaBits });
  return generate('ec', { namedCurve: 'P-256' });
}

export function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A certificate signing request for one host (PKCS#10, RFC 2986), in DER. */
export function certificateRequest(host: string, keys: KeyPair): Buffer {
  const extensionRequest = der.sequence(
    der.objectIdentifier('1.2.840.113549.1.9.14'),
    der.setOf(der.sequence(alternativeName(host))),
  );
  const info = der.sequence(
    der.unsignedInteger(Buffer.from([0])),
    nameOf(host),
    publicKeyInfo(keys),
    der.tagged(0, extensionRequest),
  );
  return signed(info, keys);
}

const hour = 3_600_000;

/**
 * The certificate for a `tls-alpn-01` challenge (RFC 8737, section 3): the host, and the digest of the key
 * authorization in a critical extension. PEM, with the private key first.
 */
export async function challengeCertificate(host: string, keyAuthorization: string): Promise<string> {
  const keys = await newKeyPair({ type: 'ecc', rsaBits: 0 });
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const acmeIdentifier = der.sequence(
    der.objectIdentifier('1.3.6.1.5.5.7.1.31'),
    der.derTrue,
    der.octetString(der.octetString(digest)),
  );
  const now = Date.now();
  const info = der.sequence(
    der.tagged(0, der.unsignedInteger(Buffer.from([2]))),
    der.unsignedInteger(randomBytes(16)),
    signatureAlgorithm(keys),
    nameOf(host),
    der.sequence(der.utcTime(new Date(now - hour)), der.utcTime(new Date(now + 24 * hour))),
    nameOf(host),
    publicKeyInfo(keys),
    der.tagged(3, der.sequence(alternativeName(host), acmeIdentifier)),
  );
  const pem = signed(info, keys).toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `${privatePem(keys.privateKey)}-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`;
}

function signed(info: Buffer, keys: KeyPair): Buffer {
  return der.sequence(info, signatureAlgorithm(keys), der.bitString(sign('sha256', info, keys.privateKey)));
}

function signatureAlgorithm({ privateKey }: KeyPair): Buffer {
  return privateKey.asymmetricKeyType === 'rsa'
    ? der.sequence(der.objectIdentifier('1.2.840.113549.1.1.11'), der.derNull)
    : der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'));
}

function publicKeyInfo({ publicKey }: KeyPair): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

/** A common name has at most 64 characters; the alternative name always contains the host. */
function nameOf(host: string): Buffer {
  if (host.length > 64) return der.sequence();
  return der.sequence(der.setOf(der.sequence(der.objectIdentifier('2.5.4.3'), der.utf8String(host))));
}

function alternativeName(host: string): Buffer {
  const names = der.sequence(der.tlv(0x82, Buffer.from(host, 'latin1')));
  return der.sequence(der.objectIdentifier('2.5.29.17'), der.octetString(names));
}
