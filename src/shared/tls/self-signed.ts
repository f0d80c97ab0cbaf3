import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import * as der from '../util/bytes/der.ts';

export interface CertificateAndKey {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

const day = 86_400_000;
const ecdsaWithSha256 = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'));

/** A self-signed certificate for `localhost`, with a new key (EC, P-256). Valid from a day ago, for so many days. */
export function selfSignedCertificate(days: number): CertificateAndKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der.sequence(der.setOf(der.sequence(der.objectIdentifier('2.5.4.3'), der.utf8String('localhost'))));
  const now = Date.now();
  const info = der.sequence(
    // Version 3.
    der.tagged(0, der.unsignedInteger(Buffer.from([2]))),
    der.unsignedInteger(randomBytes(16)),
    ecdsaWithSha256,
    name,
    der.sequence(der.utcTime(new Date(now - day)), der.utcTime(new Date(now + days * day))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der.tagged(3, der.sequence(localNames, forServers)),
  );
  const signed = der.sequence(info, ecdsaWithSha256, der.bitString(sign('sha256', info, privateKey)));
  const text = signed.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Alternative names: `localhost`, 127.0.0.1, ::1. */
const localNames = der.sequence(
  der.objectIdentifier('2.5.29.17'),
  der.octetString(
    der.sequence(
      der.tlv(0x82, Buffer.from('localhost')),
      der.tlv(0x87, Buffer.from([127, 0, 0, 1])),
      der.tlv(0x87, Buffer.from([...new Array<number>(15).fill(0), 1])),
    ),
  ),
);

/** Extended key usage: server authentication. */
const forServers = der.sequence(
  der.objectIdentifier('2.5.29.37'),
  der.octetString(der.sequence(der.objectIdentifier('1.3.6.1.5.5.7.3.1'))),
);
