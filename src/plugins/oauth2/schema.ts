import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { array, boolean, headerName, number, record, string } from '../../plugin-sdk/schema.ts';

const grants = [
  'enable_authorization_code',
  'enable_implicit_grant',
  'enable_client_credentials',
  'enable_password_grant',
] as const;

export const config = record({
  scopes: array(string({ description: 'A scope.' }), {
    description: 'Scopes that clients may request. Unset: requested scopes are ignored.',
  }),
  mandatory_scope: boolean({
    required: true,
    default: false,
    description: 'Requires clients to request at least one scope. Needs `scopes`.',
  }),
  provision_key: string({
    required: true,
    auto: true,
    unique: true,
    encrypted: true,
    description: 'Secret shared with your login page. It proves that the page, not a client, says who the user is.',
  }),
  token_expiration: number({
    required: true,
    default: 7200,
    unit: 's',
    description: 'Lifetime of an access token. 0: it does not expire, and there is no refresh token.',
  }),
  enable_authorization_code: boolean({
    required: true,
    default: false,
    description: 'Authorization code grant (RFC 6749 4.1).',
  }),
  enable_implicit_grant: boolean({
    required: true,
    default: false,
    description: 'Implicit grant (RFC 6749 4.2). Tokens end up in URLs: prefer the authorization code with PKCE.',
  }),
  enable_client_credentials: boolean({
    required: true,
    default: false,
    description: 'Client credentials grant (RFC 6749 4.4).',
  }),
  enable_password_grant: boolean({
    required: true,
    default: false,
    description: 'Resource owner password grant (RFC 6749 4.3), for old clients of your own.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description:
      'Removes the access token from the request to the backend: from header and query, and from the form if it was searched.',
  }),
  accept_http_if_already_terminated: boolean({
    required: true,
    default: false,
    description: 'Accepts `X-Forwarded-Proto: https` of a trusted proxy as TLS.',
  }),
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid token continue as. Unset: they are rejected.',
  }),
  global_credentials: boolean({
    required: true,
    default: false,
    description: 'Tokens are valid at every service whose plugin has this option, not only at one service.',
  }),
  auth_header_name: headerName({
    required: true,
    default: 'authorization',
    description: 'Header with the access token.',
  }),
  refresh_token_ttl: number({
    required: true,
    default: 1209600,
    between: [0, 100000000],
    unit: 's',
    description: 'Lifetime of a refresh token. 0: it does not expire.',
  }),
  reuse_refresh_token: boolean({
    required: true,
    default: false,
    description:
      'A refresh token stays valid when it is used, with a new lifetime. If off, each use returns a new one.',
  }),
  pkce: string({
    default: 'lax',
    one_of: ['none', 'lax', 'strict'] as const,
    description:
      'Which clients must protect authorization codes with PKCE (RFC 7636): none, public clients, or all (with `S256`). A code with a challenge always needs its verifier.',
  }),
  realm: string({ description: 'Realm in the `WWW-Authenticate` header of rejections.' }),
});

const noGrant = `at least one of these fields must be true: ${grants.join(', ')}`;

export const checks: readonly EntityCheck[] = [
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: (value: Readonly<Record<string, unknown>>) => (hasGrant(value['config']) ? null : { config: noGrant }),
    },
  },
  {
    conditional: {
      if_field: 'config.mandatory_scope',
      if_match: { eq: true },
      then_field: 'config.scopes',
      then_match: { required: true },
    },
  },
];

export type OAuth2Config = Infer<typeof config>;

function hasGrant(value: unknown): boolean {
  return grants.some((grant) => (value as Readonly<Record<string, unknown>>)[grant] === true);
}
