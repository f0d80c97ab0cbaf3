import {
  array,
  boolean,
  cookieName,
  type EntityCheck,
  headerName,
  type Infer,
  number,
  record,
  set,
  string,
  timeout,
  url,
} from '../../plugin-sdk/schema.ts';
import { fixedFields, otherNames } from './kong-fields.ts';
import { seconds, sessionFields } from './session-fields.ts';

const one = { len_min: 1, len_max: 1 } as const;
const claimPath = 'Several names are the path to a nested claim.';

function names(description: string) {
  return array(string({ description: 'A name.' }), { len_min: 1, description });
}

export const config = record(
  {
    issuer: url({
      required: true,
      description: 'The provider: its issuer, or the URL of its `.well-known/openid-configuration`.',
    }),
    allow_http: boolean({
      required: true,
      default: false,
      description: 'Allows plain HTTP to the provider. Otherwise only to a loopback address.',
    }),
    client_id: array(string({ description: 'A client id.' }), {
      ...one,
      description: 'Client id of the gateway at the provider. Needed for `authorization_code`.',
    }),
    client_secret: array(string({ referenceable: true, encrypted: true, description: 'Secret of the client.' }), {
      ...one,
      description: 'Client secret; unset for a public client.',
    }),
    token_endpoint_auth_method: string({
      one_of: ['client_secret_basic', 'client_secret_post', 'none'] as const,
      description:
        'How the client sends its secret. Unset: `client_secret_basic`, or `client_secret_post` if the provider supports only that.',
    }),
    redirect_uri: array(url({ description: 'A URL.' }), {
      ...one,
      description:
        'Where the provider redirects browsers to: a URL of the gateway that is routed to this plugin. Needed for `authorization_code`.',
    }),
    auth_methods: set(
      string({ one_of: ['bearer', 'session', 'authorization_code'] as const, description: 'A method.' }),
      {
        required: true,
        default: ['bearer'],
        len_min: 1,
        description:
          '`bearer`: access tokens that are JWTs. `authorization_code`: browsers are sent to the provider to log in. `session`: the cookie of such a login; included in `authorization_code`.',
      },
    ),
    scopes: array(string({ match: /^[\x21\x23-\x5b\x5d-\x7e]+$/, description: 'A scope.' }), {
      required: true,
      default: ['openid'],
      description:
        'Scopes that a login requests. `openid` is always included; `offline_access` usually returns refresh tokens.',
    }),
    authorization_query_args_names: names('Names of additional arguments of the login request.'),
    authorization_query_args_values: array(string({ description: 'A value.' }), {
      description: 'Values of these arguments, in the same order.',
    }),
    issuers_allowed: names("Accepted values of `iss` in bearer tokens. Unset: the provider's issuer."),
    audience_required: names(
      'The audience of a bearer token must be one of these. Without it, tokens for other services are accepted.',
    ),
    audience_claim: array(string({ description: 'A name.' }), {
      required: true,
      default: ['aud'],
      description: `Claim with the audience. ${claimPath}`,
    }),
    scopes_required: array(string({ description: 'Scopes separated by spaces; all are required.' }), {
      description: 'The token must have all scopes of one of these lines; otherwise the status is 403.',
    }),
    scopes_claim: array(string({ description: 'A name.' }), {
      required: true,
      default: ['scope'],
      description: `Claim with the scopes of a bearer token. ${claimPath}`,
    }),
    at_jwt_required: boolean({
      required: true,
      default: false,
      description:
        'Bearer tokens must be of the type `at+jwt` (RFC 9068). Without it, `JWT` is accepted, too, which many providers use.',
    }),
    algorithms: set(
      string({
        one_of: [
          'RS256',
          'RS384',
          'RS512',
          'PS256',
          'PS384',
          'PS512',
          'ES256',
          'ES384',
          'ES512',
          'EdDSA',
          'Ed25519',
        ] as const,
        description: 'A name of RFC 7518 or 8037.',
      }),
      {
        required: true,
        len_min: 1,
        default: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
        description: 'Accepted signature algorithms.',
      },
    ),
    leeway: number({
      required: true,
      default: 0,
      between: [0, 600],
      unit: 's',
      description: 'Maximum difference to the clock of the provider.',
    }),
    consumer_claim: names(`Claim that identifies the consumer. ${claimPath} Unset: there is no consumer.`),
    consumer_by: array(string({ one_of: ['id', 'username', 'custom_id'] as const, description: 'A field.' }), {
      required: true,
      len_min: 1,
      default: ['username', 'custom_id'],
      description: 'Fields of the consumer that the claim is compared with, in this order.',
    }),
    consumer_optional: boolean({
      required: true,
      default: false,
      description: 'Accepts clients without a consumer. Off: the status is 403.',
    }),
    credential_claim: array(string({ description: 'A name.' }), {
      required: true,
      default: ['sub'],
      description: `Claim for \`X-Credential-Identifier\`. ${claimPath}`,
    }),
    authenticated_groups_claim: names(`The claim with the groups that \`acl\` and \`authorization\` use. ${claimPath}`),
    upstream_access_token_header: string({
      default: 'authorization:bearer',
      match: /^[A-Za-z0-9_-]+(:bearer)?$/,
      description:
        'Header in which the backend receives the access token; `:bearer` adds the scheme `Bearer`. null: none.',
    }),
    upstream_headers_claims: names('Claims that the backend receives in headers.'),
    upstream_headers_names: array(headerName({ description: 'A header.' }), {
      description: 'Names of these headers, in the same order.',
    }),
    hide_credentials: boolean({
      required: true,
      default: false,
      description: 'The backend receives no token.',
    }),
    ...sessionFields,
    authorization_cookie_name: cookieName({
      required: true,
      default: 'authorization',
      description: 'Name of the cookie that binds a login to the browser that started it.',
    }),
    authorization_cookie_lifetime: number({
      required: true,
      default: 600,
      between: [10, 86_400],
      unit: 's',
      description: 'Maximum duration of a login.',
    }),
    login_redirect_uri: array(url({ description: 'A URL.' }), {
      ...one,
      description: 'Where browsers are redirected after a login. Unset: to the page that they requested.',
    }),
    login_for_browsers_only: boolean({
      required: true,
      default: true,
      description:
        'Only GET requests of browsers for a page are redirected to the provider; others get 401. Off: all GET requests are redirected.',
    }),
    logout_path: string({ starts_with: '/', description: 'Path of the request that ends the session.' }),
    logout_methods: set(string({ one_of: ['GET', 'POST', 'DELETE'] as const, description: 'A method.' }), {
      required: true,
      default: ['POST', 'DELETE'],
      description: 'Methods of logout requests. With GET, a link on another site can log users out.',
    }),
    logout_redirect_uri: array(url({ description: 'A URL.' }), {
      ...one,
      description: 'Where browsers are redirected after a logout; must be registered with the provider.',
    }),
    rediscovery_lifetime: seconds(
      30,
      'Minimum time between requests for the keys of the provider when a token has an unknown key.',
    ),
    cache_ttl: number({
      required: true,
      default: 3600,
      between: [1, 86_400],
      unit: 's',
      description:
        'Interval at which the configuration and the keys of the provider are loaded again, in the background.',
    }),
    timeout: timeout({ required: true, default: 10_000, description: 'Timeout of each request to the provider.' }),
    ssl_verify: boolean({
      required: true,
      default: true,
      description: "Verifies the provider's certificate. Without this, an attacker in between can forge tokens.",
    }),
    run_on_preflight: boolean({
      required: true,
      default: true,
      description: 'OPTIONS requests must be authenticated, too.',
    }),
    realm: string({ description: 'Realm in `WWW-Authenticate` of refusals.' }),
    anonymous: string({
      description: 'Id or username of the consumer for requests without authentication. Unset: they are refused.',
    }),
    ...fixedFields,
  },
  { shorthands: otherNames },
);

export type OpenIdConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: candidate }) => {
        const problem = problemOf(candidate as OpenIdConfig);
        return problem === null ? null : { config: problem };
      },
    },
  },
];

function problemOf(candidate: OpenIdConfig): string | null {
  const issuer = new URL(candidate.issuer);
  if (issuer.protocol !== 'https:' && issuer.protocol !== 'http:') return 'issuer must be a URL of https';
  if (issuer.protocol === 'http:' && !candidate.allow_http && !isLoopback(issuer.hostname)) {
    return 'issuer must be a URL of https, unless allow_http is set';
  }
  const { upstream_headers_claims: claims, upstream_headers_names: headers } = candidate;
  if ((claims?.length ?? 0) !== (headers?.length ?? 0)) {
    return 'upstream_headers_claims and upstream_headers_names must be equally long';
  }
  const { authorization_query_args_names: args, authorization_query_args_values: values } = candidate;
  if ((args?.length ?? 0) !== (values?.length ?? 0)) {
    return 'authorization_query_args_names and authorization_query_args_values must be equally long';
  }
  if (candidate.auth_methods.every((method) => method === 'bearer')) return null;
  if (candidate.client_id === null || candidate.redirect_uri === null) {
    return 'client_id and redirect_uri are required for sessions and authorization_code';
  }
  return candidate.session_cookie_name === candidate.authorization_cookie_name
    ? 'the cookies must have different names'
    : null;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
