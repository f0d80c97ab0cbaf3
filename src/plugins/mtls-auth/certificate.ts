import { X509Certificate } from 'node:crypto';
import { bitsOf, childrenOf, type Der, derOf, expectTag, hexOf, oidOf, rawOf, tags } from './der.ts';
import { distributionUris, type Extension, readExtensions, textsOf } from './extensions.ts';
import { commonName, nameText, readName } from './names.ts';
import { isStrong, signatureScheme } from './signatures.ts';

/** A certificate (RFC 5280): parsed by OpenSSL, and additional fields that are parsed here. */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly raw: Buffer;
  /** SHA-256, in hexadecimal. */
  readonly fingerprint: string;
  readonly serial: string;
  /** DER, to be compared. */
  readonly issuer: Buffer;
  readonly subject: Buffer;
  /** RFC 4514. */
  readonly subjectText: string;
  readonly commonName: string | null;
  /** Alternative names, in their order: email addresses, host names, URIs, IP addresses. */
  readonly alternativeNames: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isAuthority: boolean;
  /** Path length constraint; infinite when there is no limit. */
  readonly pathLength: number;
  /** Null: no such extension, so the key may be used for everything. */
  readonly keyUsage: ReadonlySet<number> | null;
  readonly extendedKeyUsage: ReadonlySet<string> | null;
  readonly distributionPoints: readonly string[];
  /** Its signature and its key are strong enough. */
  readonly strongSignature: boolean;
  readonly strongKey: boolean;
  /** Why no path with this certificate can be checked; null: it can. */
  readonly notUnderstood: string | null;
}

/** Bits of the key usage (RFC 5280, 4.2.1.3). */
export const keyUsages = { digitalSignature: 0, keyAgreement: 4, crlSign: 6 } as const;

const ids = {
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  distributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Supported critical extensions. Policies are not checked, since every policy is acceptable. */
const understood: ReadonlySet<string> = new Set([
  ids.keyUsage,
  ids.subjectAltName,
  ids.basicConstraints,
  ids.distributionPoints,
  ids.certificatePolicies,
  ids.extendedKeyUsage,
]);

/** Throws when the bytes are not a certificate. `source`: DER, or PEM. */
export function readCertificate(source: Uint8Array | string): Certificate {
  const x509 = new X509Certificate(source);
  const { raw } = x509;
  if (typeof source !== 'string' && !raw.equals(source)) throw new Error('there is something behind the certificate');
  const [tbs, algorithm] = childrenOf(derOf(raw));
  const fields = childrenOf(expectTag(tbs, tags.sequence));
  // [0] version, which is absent in version 1.
  const from = fields[0]?.tag === 0xa0 ? 1 : 0;
  const subject = expectTag(fields[from + 4], tags.sequence);
  const name = readName(subject);
  const list = fields.find(({ tag }) => tag === 0xa3);
  const extensions: ReadonlyMap<string, Extension> =
    list === undefined ? new Map() : readExtensions(expectTag(childrenOf(list)[0], tags.sequence));
  return {
    x509,
    raw,
    fingerprint: x509.fingerprint256,
    serial: hexOf(fields[from]),
    issuer: rawOf(expectTag(fields[from + 2], tags.sequence)),
    subject: rawOf(subject),
    subjectText: nameText(name),
    commonName: commonName(name),
    alternativeNames: alternativeNames(extensions.get(ids.subjectAltName)),
    notBefore: x509.validFromDate.getTime(),
    notAfter: x509.validToDate.getTime(),
    // The CA flag, which decides who may issue certificates, is OpenSSL's.
    isAuthority: x509.ca,
    pathLength: withValue(extensions.get(ids.basicConstraints), pathLength) ?? Number.POSITIVE_INFINITY,
    keyUsage: withValue(extensions.get(ids.keyUsage), (value) => bitsOf(derOf(value, tags.bitString))),
    extendedKeyUsage: withValue(extensions.get(ids.extendedKeyUsage), oidsOf),
    distributionPoints: withValue(extensions.get(ids.distributionPoints), distributionUris) ?? [],
    strongSignature: signatureScheme(expectTag(algorithm, tags.sequence)) !== null,
    strongKey: isStrong(x509.publicKey),
    notUnderstood: firstNotUnderstood(extensions),
  };
}

function withValue<T>(extension: Extension | undefined, read: (value: Buffer) => T): T | null {
  return extension === undefined ? null : read(extension.value);
}

function alternativeNames(extension: Extension | undefined): readonly string[] {
  return extension === undefined ? [] : textsOf(childrenOf(derOf(extension.value)));
}

function oidsOf(value: Buffer): ReadonlySet<string> {
  return new Set(childrenOf(derOf(value)).map((one: Der) => oidOf(one)));
}

/** RFC 5280, 4.2.1.9. */
function pathLength(basicConstraints: Buffer): number | null {
  const length = childrenOf(derOf(basicConstraints)).find(({ tag }) => tag === tags.integer);
  return length === undefined ? null : Number.parseInt(hexOf(length), 16);
}

/** Name constraints are binding even if they are not critical, and they are not supported. */
function firstNotUnderstood(extensions: ReadonlyMap<string, Extension>): string | null {
  for (const [id, { critical }] of extensions) {
    if (id === ids.nameConstraints) return 'a certificate has name constraints';
    if (critical && !understood.has(id)) return `a certificate has the critical extension ${id}`;
  }
  return null;
}
