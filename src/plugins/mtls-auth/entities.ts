import { credentialFields, defineEntity, foreign, record, string, tags } from '../../plugin-sdk/schema.ts';

/** A name in certificates that identifies a consumer. */
const credentials = defineEntity({
  name: 'mtls_auth_credentials',
  path: 'mtls-auths',
  endpointKey: null,
  schema: record({
    ...credentialFields('The consumer that the name belongs to.'),
    subject_name: string({
      required: true,
      description: 'An alternative name (host, email address, URI, IP address) or the common name of the certificate.',
    }),
    ca_certificate: foreign('ca_certificates', {
      on_delete: 'cascade',
      description: 'The authority that must be in the path of the certificate. Unset: any trusted one.',
    }),
    tags: tags(),
  }),
  lookups: ['subject_name'],
  uniqueTogether: [['subject_name', 'ca_certificate']],
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'mtls-auth' }],
});

export const entities = [credentials];
