import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import * as der from '../util/bytes/der.ts';

export interface CertificateAndKey {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

const day = 86_400_000;
const ecdsaWithSha256 = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'));

interface CertificateRequest {
  readonly commonName: string;
  readonly curve: 'P-256' | 'P-384';
  readonly days: number;
  readonly extensions: readonly Buffer[];
}

/** A self-signed certificate for `localhost`, with a new key (EC, P-256). Valid from a day ago, for so many days. */
export function selfSignedCertificate(days: number): CertificateAndKey {
  const extensions = [localNames, extendedKeyUsage([serverAuthentication])];
  return selfSigned({ commonName: 'localhost', curve: 'P-256', days, extensions });
}

/**
 * The certificate that control planes and data planes share: for servers and clients, named `kong_clustering` as Kong's, with a new key
 * (EC, P-384). Valid from a day ago, for so many days.
 */
export function clusterCertificate(days: number): CertificateAndKey {
  const extensions = [clusterNames, extendedKeyUsage([serverAuthentication, clientAuthentication])];
  return selfSigned({ commonName: 'kong_clustering', curve: 'P-384', days, extensions });
}

function selfSigned({ commonName, curve, days, extensions }: CertificateRequest): CertificateAndKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: curve });
  const name = der.sequence(der.setOf(der.sequence(der.objectIdentifier('2.5.4.3'), der.utf8String(commonName))));
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
    der.tagged(3, der.sequence(...extensions)),
  );
  const signed = der.sequence(info, ecdsaWithSha256, der.bitString(sign('sha256', info, privateKey)));
  const text = signed.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Alternative names: `localhost`, 127.0.0.1, ::1. */
const localNames = alternativeNames([
  der.tlv(0x82, Buffer.from('localhost')),
  der.tlv(0x87, Buffer.from([127, 0, 0, 1])),
  der.tlv(0x87, Buffer.from([...new Array<number>(15).fill(0), 1])),
]);
const clusterNames = alternativeNames([der.tlv(0x82, Buffer.from('kong_clustering'))]);

function alternativeNames(names: readonly Buffer[]): Buffer {
  return der.sequence(der.objectIdentifier('2.5.29.17'), der.octetString(der.sequence(...names)));
}

const serverAuthentication = '1.3.6.1.5.5.7.3.1';
const clientAuthentication = '1.3.6.1.5.5.7.3.2';

function extendedKeyUsage(uses: readonly string[]): Buffer {
  const list = der.sequence(...uses.map((use) => der.objectIdentifier(use)));
  return der.sequence(der.objectIdentifier('2.5.29.37'), der.octetString(list));
}
