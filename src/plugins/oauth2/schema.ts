import {
  array,
  boolean,
  type EntityCheck,
  headerName,
  type Infer,
  number,
  record,
  string,
} from '../../plugin-sdk/schema.ts';

const grants = [
  'enable_authorization_code',
  'enable_implicit_grant',
  'enable_client_credentials',
  'enable_password_grant',
] as const;

export const config = record({
  scopes: array(string({ description: 'A scope.' }), {
    description: 'Scopes that clients may ask for. Without them, what a client asks for is not heeded.',
  }),
  mandatory_scope: boolean({
    required: true,
    default: false,
    description: 'A client must ask for at least one scope. Needs `scopes`.',
  }),
  provision_key: string({
    required: true,
    auto: true,
    unique: true,
    encrypted: true,
    description:
      'Proves to the gateway that it is your login page, and not a client, that says who the user is. A secret between the two.',
  }),
  token_expiration: number({
    required: true,
    default: 7200,
    unit: 's',
    description: 'How long an access token is valid. 0: it does not expire, and comes without a refresh token.',
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
    description: 'Resource owner password grant (RFC 6749 4.3), for clients of your own that are old.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description:
      'Removes the access token from the request before it is forwarded: from header and query, and from the form if it was searched.',
  }),
  accept_http_if_already_terminated: boolean({
    required: true,
    default: false,
    description: 'Takes the word of a trusted proxy (`X-Forwarded-Proto: https`) for a connection over TLS.',
  }),
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid token go on as. Unset: they are refused.',
  }),
  global_credentials: boolean({
    required: true,
    default: false,
    description: 'Tokens are valid at every service whose plugin says so too, and not at one service alone.',
  }),
  auth_header_name: headerName({
    required: true,
    default: 'authorization',
    description: 'Header that carries the access token.',
  }),
  refresh_token_ttl: number({
    required: true,
    default: 1209600,
    between: [0, 100000000],
    unit: 's',
    description: 'How long a refresh token is valid. 0: it does not expire.',
  }),
  reuse_refresh_token: boolean({
    required: true,
    default: false,
    description: 'A refresh token stays valid when it is used, with a new life. Otherwise each use gives a new one.',
  }),
  pkce: string({
    default: 'lax',
    one_of: ['none', 'lax', 'strict'] as const,
    description:
      'Who must protect authorization codes by PKCE (RFC 7636): nobody, public clients, or all clients, then by `S256`. ' +
      'A code with a challenge always needs its verifier.',
  }),
  realm: string({ description: 'Realm that refusals name.' }),
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
