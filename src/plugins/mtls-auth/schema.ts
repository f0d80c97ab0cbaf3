import { array, boolean, type Infer, number, record, string, uuid } from '../../plugin-sdk/schema.ts';
import { readCrl } from './crl.ts';

export const config = record({
  anonymous: string({
    description:
      'Id or username of the consumer as which requests without a valid certificate go on. Unset: they are refused.',
  }),
  consumer_by: array(string({ one_of: ['username', 'custom_id'] as const, description: 'A field of consumers.' }), {
    default: ['username', 'custom_id'],
    description: 'Fields of consumers that a name in the certificate may be equal to, when no credential has the name.',
  }),
  ca_certificates: array(uuid({ description: 'Id of a CA certificate.' }), {
    required: true,
    len_min: 1,
    description: 'Authorities whose certificates are accepted: ids of entities under `/ca_certificates`.',
  }),
  cache_ttl: number({
    default: 60,
    unit: 's',
    description: 'Accepted for compatibility. Consumers and credentials are remembered until they change.',
  }),
  skip_consumer_lookup: boolean({
    required: true,
    default: false,
    description:
      'Every valid certificate is let in, without a consumer. The backend gets `X-Client-Cert-Dn` and `X-Client-Cert-San`.',
  }),
  allow_partial_chain: boolean({
    required: true,
    default: false,
    description: 'An authority in `ca_certificates` is trusted even when it is not self-signed and its own is missing.',
  }),
  authenticated_group_by: string({
    default: 'CN',
    one_of: ['CN', 'DN'] as const,
    description:
      'With `skip_consumer_lookup`: the authenticated group that `acl` sees is the common name (`CN`) or the whole subject (`DN`).',
  }),
  revocation_check_mode: string({
    default: 'IGNORE_CA_ERROR',
    one_of: ['SKIP', 'IGNORE_CA_ERROR', 'STRICT'] as const,
    description:
      '`SKIP`: nothing is checked. `IGNORE_CA_ERROR`: a revoked certificate is refused; one of which nothing is to be learnt is accepted. `STRICT`: that one is refused too.',
  }),
  http_timeout: number({ default: 30_000, unit: 'ms', description: 'For fetching a revocation list.' }),
  cert_cache_ttl: number({
    default: 60_000,
    unit: 'ms',
    description: 'How long the outcome of a check is used, and after which it is looked for a newer revocation list.',
  }),
  default_consumer: string({
    description:
      'Id or username of the consumer for valid certificates that belong to nobody. Unset: they are refused.',
  }),
  crls: array(string({ custom: crlProblem, description: 'A list as PEM, or its URL or file.' }), {
    description:
      'Certificate revocation lists, beside those that certificates name as their distribution points: as PEM, as an `http(s)` URL, or as an absolute path of a PEM or DER file.',
  }),
});

export type MtlsAuthConfig = Infer<typeof config>;

function crlProblem(text: string): string | null {
  if (text.startsWith('/')) return null;
  if (/^https?:/i.test(text)) return URL.canParse(text) ? null : 'invalid URL';
  if (!text.startsWith('-----BEGIN')) return 'must be PEM, an http(s) URL or an absolute path';
  try {
    readCrl(Buffer.from(text));
    return null;
  } catch (error) {
    return `invalid revocation list: ${error instanceof Error ? error.message : String(error)}`;
  }
}
