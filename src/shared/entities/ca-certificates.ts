import { X509Certificate } from 'node:crypto';
import { autoId, certificate, createdAt, tags, updatedAt } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

const schema = record(
  {
    id: autoId(),
    created_at: createdAt(),
    updated_at: updatedAt(),
    cert: certificate({ required: true, description: 'Certificate of the authority, in PEM.' }),
    cert_digest: string({
      unique: true,
      description: 'SHA-256 of the certificate, in hexadecimal. Always computed; a value that you send is ignored.',
    }),
    tags: tags(),
  },
  {
    checks: [
      {
        custom_entity_check: {
          field_sources: ['cert'],
          fn: ({ cert }: Readonly<Record<string, unknown>>) => authorityProblem(cert),
        },
      },
    ],
  },
);

export const caCertificates = defineEntity({
  name: 'ca_certificates',
  path: 'ca_certificates',
  endpointKey: null,
  schema,
  derive: (row) => ({ ...row, cert_digest: digest(String(row['cert'])) }),
});

function authorityProblem(cert: unknown): string | null {
  const pem = String(cert);
  if (pem.split('-----BEGIN CERTIFICATE-----').length > 2) return 'please submit only one certificate at a time';
  const parsed = new X509Certificate(pem);
  if (parsed.validToDate.getTime() < Date.now()) return 'certificate expired, "Not After" time is in the past';
  if (parsed.ca) return null;
  return 'certificate does not appear to be a CA because it is missing the "CA" basic constraint';
}

function digest(pem: string): string {
  return new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
}
