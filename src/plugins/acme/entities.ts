import { autoId, createdAt, defineEntity, record, string, ttl } from '../../plugin-sdk/schema.ts';

/*
 * Neither has a path in the Admin API: they hold the private keys of accounts and of challenges.
 */

/** Accounts, leases, back-offs and which certificate is whose, by key (see records.ts). */
const storage = defineEntity({
  name: 'acme_storage',
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    key: string({ required: true, unique: true, description: 'What it is: `account:...`, `lease:<host>`.' }),
    value: string({ required: true, encrypted: true, description: 'JSON.' }),
    ttl: ttl(),
  }),
});

/** What the authority asks for while it checks a host. Few at a time, and asked for by type, so workers know them all. */
const challenges = defineEntity({
  name: 'acme_challenges',
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    type: string({ required: true, one_of: ['http-01', 'tls-alpn-01'], description: 'Kind of the challenge.' }),
    host: string({ required: true, description: 'The host that is checked.' }),
    token: string({ required: true, description: 'The token in the path of the request.' }),
    answer: string({
      required: true,
      encrypted: true,
      description: 'The body of the answer; for TLS the certificate to show, with its key.',
    }),
    ttl: ttl(),
  }),
  lookups: ['type'],
});

export const entities = [storage, challenges];
