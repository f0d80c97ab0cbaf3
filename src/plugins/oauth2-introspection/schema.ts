import {
  array,
  boolean,
  type EntityCheck,
  headerName,
  type Infer,
  map,
  number,
  record,
  set,
  string,
  timeout,
  url,
} from '../../plugin-sdk/schema.ts';

export const config = record({
  introspection_url: url({ required: true, description: 'Introspection endpoint of the authorization server.' }),
  authorization_value: string({
    referenceable: true,
    encrypted: true,
    description: 'The `Authorization` field by which the gateway is known to that server: `Basic ...`, `Bearer ...`.',
  }),
  client_id: string({ description: 'In its place: the client that the gateway is to that server (HTTP Basic).' }),
  client_secret: string({ referenceable: true, encrypted: true, description: 'The secret of that client.' }),
  token_type_hint: string({ description: '`token_type_hint` of the question: `access_token`.' }),
  ttl: number({
    required: true,
    default: 30,
    between: [0, 86400],
    unit: 's',
    description:
      'How long an active token is accepted without asking again, and never beyond its `exp`. 0: asked each time.',
  }),
  negative_ttl: number({
    required: true,
    default: 5,
    between: [0, 300],
    unit: 's',
    description: 'How long a token that is not active is refused without asking again; `ttl` when that is less.',
  }),
  timeout: timeout({ required: true, default: 10_000, description: 'For one question, connecting included.' }),
  ssl_verify: boolean({
    required: true,
    default: true,
    description: "The server's certificate must be valid. Without this, whoever is in between can accept any token.",
  }),
  introspect_request: boolean({
    required: true,
    default: false,
    description:
      'The question also has the fields `X-Request-Path` and `X-Request-Http-Method`; answers then hold for that path and method only.',
  }),
  custom_introspection_headers: map(headerName({ description: 'Name.' }), string({ description: 'Value.' }), {
    required: true,
    default: {},
    description: 'More header fields of the question.',
  }),
  scopes_required: array(string({ description: 'Scopes with spaces between them, all of which are needed.' }), {
    description: 'The token must have the scopes of one of these lines; otherwise the answer is 403.',
  }),
  audience_required: array(string({ description: 'An audience.' }), {
    description: 'The `aud` of the token must name one of these; otherwise it is not accepted.',
  }),
  consumer_by: string({
    required: true,
    default: 'username',
    one_of: ['username', 'client_id'] as const,
    description:
      'Which claim names the consumer: `username` is looked up as username, `client_id` as custom_id and then as username.',
  }),
  consumer_optional: boolean({
    required: true,
    default: true,
    description: 'A valid token passes whose consumer does not exist. Off: the answer is 403.',
  }),
  custom_claims_forward: set(string({ match: /^[A-Za-z0-9_-]+$/, description: 'A claim.' }), {
    required: true,
    default: [],
    description: 'More claims for the backend, in headers such as `X-Credential-Email` for `email`.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description: 'The backend does not get the token.',
  }),
  run_on_preflight: boolean({
    required: true,
    default: true,
    description: 'OPTIONS requests need a token too.',
  }),
  realm: string({ description: 'Realm that refusals name in `WWW-Authenticate`.' }),
  anonymous: string({
    description: 'Id or username of the consumer as which requests without a valid token go on. Unset: refused.',
  }),
});

export type IntrospectionConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { only_one_of: ['config.authorization_value', 'config.client_id'] },
  { mutually_required: ['config.client_id', 'config.client_secret'] },
];
