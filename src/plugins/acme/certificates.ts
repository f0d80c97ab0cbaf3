import { createHash, generateKeyPair, type KeyObject, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import {
  bitString,
  nothing,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  tagged,
  tlv,
  unsignedInteger,
  utcTime,
  utf8String,
  yes,
} from '../../plugin-sdk/der.ts';

const generate = promisify(generateKeyPair);

export interface KeyKind {
  readonly type: 'rsa' | 'ecc';
  readonly rsaBits: number;
}

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** RSA keys take a second or two, on another thread. */
export async function newKeyPair({ type, rsaBits }: KeyKind): Promise<KeyPair> {
  if (type === 'rsa') return generate('rsa', { modulusLength: rsaBits });
  return generate('ec', { namedCurve: 'P-256' });
}

export function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A request for a certificate of one host (PKCS#10, RFC 2986), in DER. */
export function certificateRequest(host: string, keys: KeyPair): Buffer {
  const extensionRequest = sequence(objectIdentifier('1.2.840.113549.1.9.14'), setOf(sequence(alternativeName(host))));
  const info = sequence(
    unsignedInteger(Buffer.from([0])),
    nameOf(host),
    publicKeyInfo(keys),
    tagged(0, extensionRequest),
  );
  return signed(info, keys);
}

const hour = 3_600_000;

/**
 * The certificate that answers a `tls-alpn-01` challenge (RFC 8737, section 3): the host, and the digest of the key
 * authorization in a critical extension. PEM, the private key first.
 */
export async function challengeCertificate(host: string, keyAuthorization: string): Promise<string> {
  const keys = await newKeyPair({ type: 'ecc', rsaBits: 0 });
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const acmeIdentifier = sequence(objectIdentifier('1.3.6.1.5.5.7.1.31'), yes, octetString(octetString(digest)));
  const now = Date.now();
  const info = sequence(
    tagged(0, unsignedInteger(Buffer.from([2]))),
    unsignedInteger(randomBytes(16)),
    signatureAlgorithm(keys),
    nameOf(host),
    sequence(utcTime(new Date(now - hour)), utcTime(new Date(now + 24 * hour))),
    nameOf(host),
    publicKeyInfo(keys),
    tagged(3, sequence(alternativeName(host), acmeIdentifier)),
  );
  const pem = signed(info, keys).toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `${privatePem(keys.privateKey)}-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`;
}

function signed(info: Buffer, keys: KeyPair): Buffer {
  return sequence(info, signatureAlgorithm(keys), bitString(sign('sha256', info, keys.privateKey)));
}

function signatureAlgorithm({ privateKey }: KeyPair): Buffer {
  return privateKey.asymmetricKeyType === 'rsa'
    ? sequence(objectIdentifier('1.2.840.113549.1.1.11'), nothing)
    : sequence(objectIdentifier('1.2.840.10045.4.3.2'));
}

function publicKeyInfo({ publicKey }: KeyPair): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

/** A common name holds 64 characters; the alternative name holds the host in any case. */
function nameOf(host: string): Buffer {
  if (host.length > 64) return sequence();
  return sequence(setOf(sequence(objectIdentifier('2.5.4.3'), utf8String(host))));
}

function alternativeName(host: string): Buffer {
  const names = sequence(tlv(0x82, Buffer.from(host, 'latin1')));
  return sequence(objectIdentifier('2.5.29.17'), octetString(names));
}
