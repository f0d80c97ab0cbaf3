import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import {
  bitString,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  tagged,
  tlv,
  unsignedInteger,
  utcTime,
  utf8String,
} from '../util/der.ts';

export interface CertificateAndKey {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

const day = 86_400_000;
const ecdsaWithSha256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));

/** A certificate for `localhost` that vouches for itself, with a new key (EC, P-256). Valid from a day ago, for so many days. */
export function selfSignedCertificate(days: number): CertificateAndKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(setOf(sequence(objectIdentifier('2.5.4.3'), utf8String('localhost'))));
  const now = Date.now();
  const info = sequence(
    // Version 3.
    tagged(0, unsignedInteger(Buffer.from([2]))),
    unsignedInteger(randomBytes(16)),
    ecdsaWithSha256,
    name,
    sequence(utcTime(new Date(now - day)), utcTime(new Date(now + days * day))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(localNames, forServers)),
  );
  const der = sequence(info, ecdsaWithSha256, bitString(sign('sha256', info, privateKey)));
  const text = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Alternative names: `localhost`, 127.0.0.1, ::1. */
const localNames = sequence(
  objectIdentifier('2.5.29.17'),
  octetString(
    sequence(
      tlv(0x82, Buffer.from('localhost')),
      tlv(0x87, Buffer.from([127, 0, 0, 1])),
      tlv(0x87, Buffer.from([...new Array<number>(15).fill(0), 1])),
    ),
  ),
);

/** Extended key usage: server authentication. */
const forServers = sequence(
  objectIdentifier('2.5.29.37'),
  octetString(sequence(objectIdentifier('1.3.6.1.5.5.7.3.1'))),
);
