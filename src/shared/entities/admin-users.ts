import { set } from '../schema/collections.ts';
import { autoId, createdAt, entityName, ttl, updatedAt } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { foreign, record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

/** `read`: sees everything but secrets. `edit`: also changes entities with its tags. `admin`: everything, users too. */
export const adminRoles = ['read', 'edit', 'admin'] as const;
export type AdminRole = (typeof adminRoles)[number];

/** Names of actors of the audit that are not users, and of a path. */
const reservedNames: readonly string[] = ['admin-token', 'anonymous', 'cli', 'me'];

/** Who may use the Admin API. Has paths of its own (`/admin-users`), which are not those of config entities. */
export const adminUsers = defineEntity({
  name: 'admin_users',
  inConfig: false,
  path: null,
  endpointKey: 'name',
  schema: record(
    {
      id: autoId(),
      created_at: createdAt(),
      updated_at: updatedAt(),
      name: entityName({
        required: true,
        len_max: 128,
        not_one_of: reservedNames,
        description: `Unique name, which the audit shows. Not one of ${reservedNames.map((name) => `\`${name}\``).join(', ')}.`,
      }),
      role: string({
        required: true,
        one_of: adminRoles,
        description:
          '`read`: GET only, secrets are masked. `edit`: also writes entities whose tags match `tag_patterns`. `admin`: everything.',
      }),
      tag_patterns: set(string({ len_max: 128 }), {
        len_max: 100,
        description:
          'Tags of the entities that a user with the role `edit` may write: `team-a`, `team-a-*`. `*` matches any text.',
      }),
      certificate_name: string({
        unique: true,
        len_max: 512,
        match: /^(?:CN|DNS|URI|email):./,
        description:
          'Name in a client certificate that signs this user in without a token: `CN:ops`, `DNS:ci.example`, `URI:spiffe://example/ci`, `email:ops@example`. Needs `admin_ssl_client_ca`.',
      }),
    },
    {
      checks: [
        {
          conditional: {
            if_field: 'role',
            if_match: { eq: 'edit' },
            then_field: 'tag_patterns',
            then_match: { required: true, len_min: 1 },
          },
        },
      ],
    },
  ),
});

/** A token of a user. Only its hash is stored. */
export const adminTokens = defineEntity({
  name: 'admin_tokens',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    user: foreign('admin_users', { required: true, on_delete: 'cascade', description: 'The user.' }),
    name: entityName({
      unique: false,
      required: true,
      len_max: 128,
      description:
        'What the token is for, such as `ci`. Unique among the tokens of the user. Default: made from the token.',
    }),
    token_hash: string({
      required: true,
      unique: true,
      encrypted: true,
      match: /^[0-9a-f]{64}$/,
      description: 'SHA-256 of the token, in hexadecimal digits.',
    }),
    token_prefix: string({
      required: true,
      len_max: 16,
      description: 'First characters of the token, for recognition.',
    }),
    last_used_at: string({ computed: true, description: 'When the token was last used, to the minute.' }),
    ttl: ttl(),
  }),
  uniqueTogether: [['user', 'name']],
  // A column of its own, so that a use is noted without a change of the row.
  lookups: ['last_used_at'],
});
