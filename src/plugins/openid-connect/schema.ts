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

const attribute = /^[\x21-\x3a\x3c-\x7e]+$/;
const one = { len_min: 1, len_max: 1 } as const;
const claimPath = 'Several names are the way into nested claims.';

function seconds(value: number, description: string) {
  return number({ required: true, default: value, between: [0, 100_000_000], unit: 's', description });
}

function names(description: string) {
  return array(string({ description: 'A name.' }), { len_min: 1, description });
}

export const config = record(
  {
    issuer: url({
      required: true,
      description: 'The provider: its issuer, or the address of its `.well-known/openid-configuration`.',
    }),
    allow_http: boolean({
      required: true,
      default: false,
      description: 'The provider may be asked over plain HTTP. Without it only one on a loopback address may.',
    }),
    client_id: array(string({ description: 'Name of the client.' }), {
      ...one,
      description: 'The client that the gateway is to the provider. Needed for `authorization_code`.',
    }),
    client_secret: array(string({ referenceable: true, encrypted: true, description: 'Secret of the client.' }), {
      ...one,
      description: 'The secret of that client; none for a public client.',
    }),
    token_endpoint_auth_method: string({
      one_of: ['client_secret_basic', 'client_secret_post', 'none'] as const,
      description:
        'How the client shows its secret. Unset: `client_secret_basic`, or `client_secret_post` where the provider has only that.',
    }),
    redirect_uri: array(url({ description: 'A URL.' }), {
      ...one,
      description:
        'Where the provider sends browsers back to: a URL of the gateway that is routed to this plugin. Needed for `authorization_code`.',
    }),
    auth_methods: set(
      string({ one_of: ['bearer', 'session', 'authorization_code'] as const, description: 'A method.' }),
      {
        required: true,
        default: ['bearer'],
        len_min: 1,
        description:
          '`bearer`: access tokens that are JWTs. `authorization_code`: browsers are sent to the provider to log in. `session`: the cookie that such a login gives; `authorization_code` brings it along.',
      },
    ),
    scopes: array(string({ match: /^[\x21\x23-\x5b\x5d-\x7e]+$/, description: 'A scope.' }), {
      required: true,
      default: ['openid'],
      description:
        'What a login asks for. `openid` is always among them; `offline_access` usually brings refresh tokens.',
    }),
    authorization_query_args_names: names('More arguments of the login request: their names.'),
    authorization_query_args_values: array(string({ description: 'A value.' }), {
      description: 'Their values, in the same order.',
    }),
    issuers_allowed: names("Values of `iss` that are accepted in bearer tokens. Unset: the provider's issuer."),
    audience_required: names(
      'The audience of a bearer token must be one of these. Without it, tokens that were made for other services pass.',
    ),
    audience_claim: array(string({ description: 'A name.' }), {
      required: true,
      default: ['aud'],
      description: `The claim with the audience. ${claimPath}`,
    }),
    scopes_required: array(string({ description: 'Scopes with spaces between them, all of which are needed.' }), {
      description: 'The token must have the scopes of one of these lines; otherwise the answer is 403.',
    }),
    scopes_claim: array(string({ description: 'A name.' }), {
      required: true,
      default: ['scope'],
      description: `The claim with the scopes of a bearer token. ${claimPath}`,
    }),
    at_jwt_required: boolean({
      required: true,
      default: false,
      description:
        'Bearer tokens must be of the type `at+jwt` (RFC 9068). Without it `JWT` will do too, which many providers write.',
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
        description: 'Signature algorithms that are accepted.',
      },
    ),
    leeway: number({
      required: true,
      default: 0,
      between: [0, 600],
      unit: 's',
      description: "How far the provider's clock may be off.",
    }),
    consumer_claim: names(`The claim that names the consumer. ${claimPath} Unset: there is no consumer.`),
    consumer_by: array(string({ one_of: ['id', 'username', 'custom_id'] as const, description: 'A field.' }), {
      required: true,
      len_min: 1,
      default: ['username', 'custom_id'],
      description: 'Fields of consumers that are compared with that claim, in this order.',
    }),
    consumer_optional: boolean({
      required: true,
      default: false,
      description: 'Who has no consumer passes nevertheless. Off: the answer is 403.',
    }),
    credential_claim: array(string({ description: 'A name.' }), {
      required: true,
      default: ['sub'],
      description: `The claim for \`X-Credential-Identifier\`. ${claimPath}`,
    }),
    authenticated_groups_claim: names(
      `The claim with the groups that \`acl\` and \`authorization\` go by. ${claimPath}`,
    ),
    upstream_access_token_header: string({
      default: 'authorization:bearer',
      match: /^[A-Za-z0-9_-]+(:bearer)?$/,
      description:
        'Header in which the backend gets the access token; with `:bearer` after the scheme `Bearer`. null: it does not.',
    }),
    upstream_headers_claims: names('Claims that the backend gets in headers.'),
    upstream_headers_names: array(headerName({ description: 'A header.' }), {
      description: 'The names of those headers, in the same order.',
    }),
    hide_credentials: boolean({
      required: true,
      default: false,
      description: 'The backend gets no token at all.',
    }),
    session_secret: string({
      auto: true,
      referenceable: true,
      encrypted: true,
      description: 'Cookies are encrypted with it. Whoever knows it can make sessions; with another one, all are void.',
    }),
    session_audience: string({
      required: true,
      default: 'default',
      description: 'Sessions of another audience are not accepted: a name for the application.',
    }),
    session_cookie_name: cookieName({ required: true, default: 'session', description: 'Name of the session cookie.' }),
    session_cookie_path: string({
      required: true,
      default: '/',
      starts_with: '/',
      match: attribute,
      description: 'Path of the cookies.',
    }),
    session_cookie_domain: string({
      match: attribute,
      description: 'Domain of the cookies. Unset: only the host that set them.',
    }),
    session_cookie_same_site: string({
      required: true,
      default: 'Lax',
      one_of: ['Strict', 'Lax', 'None'] as const,
      description: 'Whether requests from other sites carry the session cookie.',
    }),
    session_cookie_http_only: boolean({
      required: true,
      default: true,
      description: 'Scripts cannot read the session cookie.',
    }),
    session_cookie_secure: boolean({
      description: 'The cookies are sent over TLS only. Unset: when `redirect_uri` is of https.',
    }),
    session_absolute_timeout: seconds(86_400, 'A session ends that long after the login.'),
    session_idling_timeout: seconds(900, 'A session ends that was not used for so long. 0: never.'),
    authorization_cookie_name: cookieName({
      required: true,
      default: 'authorization',
      description: 'Name of the cookie that ties a login to the browser that began it.',
    }),
    authorization_cookie_lifetime: number({
      required: true,
      default: 600,
      between: [10, 86_400],
      unit: 's',
      description: 'How long a login may take.',
    }),
    login_redirect_uri: array(url({ description: 'A URL.' }), {
      ...one,
      description: 'Where browsers go after a login. Unset: to what they asked for first.',
    }),
    login_for_browsers_only: boolean({
      required: true,
      default: true,
      description:
        'Only GET requests of browsers for a page are sent to the provider; all others get 401. Off: all GET requests are.',
    }),
    logout_path: string({ starts_with: '/', description: 'A request for this path ends the session.' }),
    logout_methods: set(string({ one_of: ['GET', 'POST', 'DELETE'] as const, description: 'A method.' }), {
      required: true,
      default: ['POST', 'DELETE'],
      description: 'Methods of such a request. With GET, a link on another site can log users out.',
    }),
    logout_redirect_uri: array(url({ description: 'A URL.' }), {
      ...one,
      description: 'Where browsers go after a logout; registered with the provider.',
    }),
    rediscovery_lifetime: seconds(
      30,
      'How long the gateway waits after it has asked the provider for its keys, before an unknown key makes it ask again.',
    ),
    cache_ttl: number({
      required: true,
      default: 3600,
      between: [1, 86_400],
      unit: 's',
      description:
        'After that time the configuration and the keys of the provider are asked for anew, in the background.',
    }),
    timeout: timeout({ required: true, default: 10_000, description: 'For each question to the provider.' }),
    ssl_verify: boolean({
      required: true,
      default: true,
      description: "The provider's certificate must be valid. Without this, whoever is in between can make tokens.",
    }),
    run_on_preflight: boolean({
      required: true,
      default: true,
      description: 'OPTIONS requests must be authenticated too.',
    }),
    realm: string({ description: 'Realm that refusals name in `WWW-Authenticate`.' }),
    anonymous: string({
      description: 'Id or username of the consumer as which requests go on that are not authenticated. Unset: refused.',
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
      fn: ({ config: given }) => {
        const problem = problemOf(given as OpenIdConfig);
        return problem === null ? null : { config: problem };
      },
    },
  },
];

function problemOf(given: OpenIdConfig): string | null {
  const issuer = new URL(given.issuer);
  if (issuer.protocol !== 'https:' && issuer.protocol !== 'http:') return 'issuer must be a URL of https';
  if (issuer.protocol === 'http:' && !given.allow_http && !isLoopback(issuer.hostname)) {
    return 'issuer must be a URL of https, unless allow_http is set';
  }
  const { upstream_headers_claims: claims, upstream_headers_names: headers } = given;
  if ((claims?.length ?? 0) !== (headers?.length ?? 0)) {
    return 'upstream_headers_claims and upstream_headers_names must be equally long';
  }
  const { authorization_query_args_names: args, authorization_query_args_values: values } = given;
  if ((args?.length ?? 0) !== (values?.length ?? 0)) {
    return 'authorization_query_args_names and authorization_query_args_values must be equally long';
  }
  if (given.auth_methods.every((method) => method === 'bearer')) return null;
  if (given.client_id === null || given.redirect_uri === null) {
    return 'client_id and redirect_uri are required for sessions and authorization_code';
  }
  return given.session_cookie_name === given.authorization_cookie_name ? 'the cookies must have different names' : null;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
