import { autoId, createdAt, defineEntity, record, string, ttl } from '../../plugin-sdk/schema.ts';

/* Neither entity has a path in the Admin API: they contain the private keys of accounts and of challenges. */

/** Accounts, leases, backoffs and managed certificates, by key (see records.ts). */
const storage = defineEntity({
  name: 'acme_storage',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    key: string({ required: true, unique: true, description: 'Name of the item: `account:...`, `lease:<host>`.' }),
    value: string({ required: true, encrypted: true, description: 'JSON.' }),
    ttl: ttl(),
  }),
});

/** What the authority fetches while it validates a host. Few at a time, and looked up by type, so workers cache all of them. */
const challenges = defineEntity({
  name: 'acme_challenges',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    type: string({ required: true, one_of: ['http-01', 'tls-alpn-01'], description: 'Type of the challenge.' }),
    host: string({ required: true, description: 'The host that is validated.' }),
    token: string({ required: true, description: 'The token in the path of the request.' }),
    answer: string({
      required: true,
      encrypted: true,
      description: 'The body of the response. For TLS, the certificate to present, with its key.',
    }),
    ttl: ttl(),
  }),
  lookups: ['type'],
});

export const entities = [storage, challenges];
