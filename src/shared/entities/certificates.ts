import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isVaultReference } from '../schema/attributes.ts';
import { array } from '../schema/collections.ts';
import { autoId, certificate, createdAt, privateKey, tags, updatedAt } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

type Row = Readonly<Record<string, unknown>>;

const SAME_TYPE =
  'certificate and alternative certificate need to have different type (e.g. RSA and ECDSA), the provided certificates were both of the same type';

const schema = record(
  {
    id: autoId(),
    created_at: createdAt(),
    updated_at: updatedAt(),
    cert: certificate({
      required: true,
      referenceable: true,
      description: 'Certificate in PEM, with its chain below it.',
    }),
    key: privateKey({
      required: true,
      referenceable: true,
      encrypted: true,
      description: 'Private key of the certificate, in PEM.',
    }),
    cert_alt: certificate({
      referenceable: true,
      description: 'A second certificate, with a key of another type.',
    }),
    key_alt: privateKey({
      referenceable: true,
      encrypted: true,
      description: 'Private key of the second certificate, in PEM.',
    }),
    ocsp_response: string({
      custom: (text: string) => (isOcspResponse(text) ? null : 'invalid OCSP response: expected base64 of DER'),
      description:
        'OCSP response of the authority for `cert` (base64 of DER), sent to clients that request it. You must renew it in time.',
    }),
    tags: tags(),
    snis: array(string(), {
      virtual: true,
      custom: duplicateName,
      description: 'TLS server names for which the certificate is shown.',
    }),
  },
  {
    checks: [
      { mutually_required: ['cert_alt', 'key_alt'] },
      {
        custom_entity_check: {
          field_sources: ['cert', 'key'],
          fn: (row: Row) => (matches(row, 'cert', 'key') ? null : 'certificate does not match key'),
        },
      },
      {
        custom_entity_check: {
          field_sources: ['cert_alt', 'key_alt'],
          fn: (row: Row) => (matches(row, 'cert_alt', 'key_alt') ? null : 'alternative certificate does not match key'),
        },
      },
      {
        custom_entity_check: {
          field_sources: ['cert', 'cert_alt'],
          fn: (row: Row) => (differInType(row) ? null : SAME_TYPE),
        },
      },
    ],
  },
);

export const certificates = defineEntity({ name: 'certificates', path: 'certificates', endpointKey: null, schema });

/** Also true when there is nothing to compare: missing, or stored in a vault. */
function matches(row: Row, certField: string, keyField: string): boolean {
  const cert = pemOf(row, certField);
  const key = pemOf(row, keyField);
  return cert === null || key === null || new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}

function differInType(row: Row): boolean {
  const cert = pemOf(row, 'cert');
  const alternative = pemOf(row, 'cert_alt');
  return cert === null || alternative === null || keyType(cert) !== keyType(alternative);
}

function keyType(pem: string): string | undefined {
  return new X509Certificate(pem).publicKey.asymmetricKeyType;
}

function pemOf(row: Row, field: string): string | null {
  const value = row[field];
  return typeof value === 'string' && !isVaultReference(value) ? value : null;
}

/** RFC 6960, 4.2.1: a sequence whose first part is the status 0, successful. */
function isOcspResponse(text: string): boolean {
  if (!/^[A-Za-z0-9+/\s]+(?:={1,2}\s*)?$/.test(text)) return false;
  const der = Buffer.from(text, 'base64');
  if (der[0] !== 0x30 || der.length > 65_536) return false;
  const long = (der[1] ?? 0) & 0x80 ? (der[1] ?? 0) & 0x7f : 0;
  return der.subarray(2 + long, 5 + long).equals(Buffer.from([0x0a, 1, 0]));
}

function duplicateName(names: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) return `${name} is duplicated`;
    seen.add(name);
  }
  return null;
}
