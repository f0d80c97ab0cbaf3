import { array, boolean, type Infer, number, record, string, uuid } from '../../plugin-sdk/schema.ts';
import { readCrl } from './crl.ts';

export const config = record({
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid certificate continue as. Unset: they are rejected.',
  }),
  consumer_by: array(string({ one_of: ['username', 'custom_id'] as const, description: 'A field of consumers.' }), {
    default: ['username', 'custom_id'],
    description:
      'Fields of the consumer that are compared with the names in the certificate, if no credential has the name.',
  }),
  ca_certificates: array(uuid({ description: 'Id of a CA certificate.' }), {
    required: true,
    len_min: 1,
    description: 'Accepted authorities: ids of entities under `/ca_certificates`.',
  }),
  cache_ttl: number({
    default: 60,
    unit: 's',
    description: 'Accepted for compatibility and ignored. Consumers and credentials are cached until they change.',
  }),
  skip_consumer_lookup: boolean({
    required: true,
    default: false,
    description:
      'Accepts every valid certificate without a consumer. The backend receives `X-Client-Cert-Dn` and `X-Client-Cert-San`.',
  }),
  allow_partial_chain: boolean({
    required: true,
    default: false,
    description:
      'Trusts an authority in `ca_certificates` even if it is not self-signed and its own issuer is missing.',
  }),
  authenticated_group_by: string({
    default: 'CN',
    one_of: ['CN', 'DN'] as const,
    description:
      'With `skip_consumer_lookup`: the authenticated group for `acl` is the common name (`CN`) or the whole subject (`DN`).',
  }),
  revocation_check_mode: string({
    default: 'IGNORE_CA_ERROR',
    one_of: ['SKIP', 'IGNORE_CA_ERROR', 'STRICT'] as const,
    description:
      '`SKIP`: no check. `IGNORE_CA_ERROR`: a revoked certificate is rejected; one without an available list is accepted. `STRICT`: that one is rejected, too.',
  }),
  http_timeout: number({ default: 30_000, unit: 'ms', description: 'Timeout of fetching a revocation list.' }),
  cert_cache_ttl: number({
    default: 60_000,
    unit: 'ms',
    description:
      'Time that the outcome of a check is cached, and interval at which the gateway looks for a newer revocation list.',
  }),
  default_consumer: string({
    description: 'Id or username of the consumer for valid certificates without a consumer. Unset: they are rejected.',
  }),
  crls: array(string({ custom: crlProblem, description: 'A list as PEM, or its URL or file.' }), {
    description:
      'Certificate revocation lists, in addition to the distribution points of certificates: PEM text, an `http(s)` URL, or an absolute path of a PEM or DER file.',
  }),
});

export type MtlsAuthConfig = Infer<typeof config>;

function crlProblem(text: string): string | null {
  if (text.startsWith('/')) return null;
  if (/^https?:/i.test(text)) return URL.canParse(text) ? null : 'invalid URL';
  if (!text.startsWith('-----BEGIN')) return 'must be PEM, an http(s) URL or an absolute path';
  try {
    readCrl(Buffer.from(text)).revoked();
    return null;
  } catch (error) {
    return `invalid revocation list: ${error instanceof Error ? error.message : String(error)}`;
  }
}
