import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { array, boolean, headerName, map, number, record, set, string, timeout, url } from '../../plugin-sdk/schema.ts';

export const config = record({
  introspection_url: url({ required: true, description: "URL of the authorization server's introspection endpoint." }),
  authorization_value: string({
    referenceable: true,
    encrypted: true,
    description:
      '`Authorization` header with which the gateway authenticates at that server: `Basic ...`, `Bearer ...`.',
  }),
  client_id: string({
    description: 'Client id of the gateway at that server (HTTP Basic), instead of `authorization_value`.',
  }),
  client_secret: string({ referenceable: true, encrypted: true, description: 'Client secret of the gateway.' }),
  token_type_hint: string({ description: '`token_type_hint` of the introspection request: `access_token`.' }),
  ttl: number({
    required: true,
    default: 30,
    between: [0, 86400],
    unit: 's',
    description: 'Time that an active token is cached, never beyond its `exp`. 0: each request is checked.',
  }),
  negative_ttl: number({
    required: true,
    default: 5,
    between: [0, 300],
    unit: 's',
    description: 'Time that a rejected token is cached; `ttl` if that is less.',
  }),
  timeout: timeout({
    required: true,
    default: 10_000,
    description: 'Timeout of one introspection request, including connecting.',
  }),
  ssl_verify: boolean({
    required: true,
    default: true,
    description: 'Verifies the certificate of the server. If off, anyone on the network path can make any token valid.',
  }),
  introspect_request: boolean({
    required: true,
    default: false,
    description:
      'Adds the headers `X-Request-Path` and `X-Request-Http-Method` to the introspection request. Responses are then cached for that path and method only.',
  }),
  custom_introspection_headers: map(headerName({ description: 'Name.' }), string({ description: 'Value.' }), {
    required: true,
    default: {},
    description: 'Additional headers of the introspection request.',
  }),
  scopes_required: array(string({ description: 'Scopes with spaces between them; all are required.' }), {
    description: 'The token must have all scopes of one of these entries. Otherwise the response is 403.',
  }),
  audience_required: array(string({ description: 'An audience.' }), {
    description: 'Accepted audiences; the `aud` of the token must have one of them.',
  }),
  consumer_by: string({
    required: true,
    default: 'username',
    one_of: ['username', 'client_id'] as const,
    description:
      'Claim that identifies the consumer: `username` is compared with the username, `client_id` with custom_id and then the username.',
  }),
  consumer_optional: boolean({
    required: true,
    default: true,
    description: 'Accepts valid tokens whose consumer does not exist. If off, the response is 403.',
  }),
  custom_claims_forward: set(string({ match: /^[A-Za-z0-9_-]+$/, description: 'A claim.' }), {
    required: true,
    default: [],
    description: 'Additional claims that the backend receives, in headers such as `X-Credential-Email` for `email`.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description: 'Removes the token from the request to the backend.',
  }),
  run_on_preflight: boolean({
    required: true,
    default: true,
    description: 'Requires a token of OPTIONS requests, too.',
  }),
  realm: string({ description: 'Realm in the `WWW-Authenticate` header of rejections.' }),
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid token continue as. Unset: they are rejected.',
  }),
});

export type IntrospectionConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { only_one_of: ['config.authorization_value', 'config.client_id'] },
  { mutually_required: ['config.client_id', 'config.client_secret'] },
];
