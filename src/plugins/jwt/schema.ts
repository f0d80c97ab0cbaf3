import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { boolean, headerName, integer, number, record, set, string, timeout, url } from '../../plugin-sdk/schema.ts';
import { algorithmNames } from './algorithms.ts';

export const config = record({
  uri_param_names: set(string(), {
    default: ['jwt'],
    description: 'Query arguments that may hold the token.',
  }),
  cookie_names: set(string(), { default: [], description: 'Cookies that may hold the token.' }),
  key_claim_name: string({
    default: 'iss',
    description: 'Claim that names the credential by its `key`, in the payload or else in the header.',
  }),
  secret_is_base64: boolean({
    required: true,
    default: false,
    description: 'Secrets of credentials are the base64 or base64url encoding of the signing key.',
  }),
  claims_to_verify: set(string({ one_of: ['exp', 'nbf'] }), {
    description:
      'Time claims that a token must have and that must be valid. Tokens of `jwks_uri` are always checked for those present.',
  }),
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid token continue as. Default: they are rejected.',
  }),
  run_on_preflight: boolean({
    required: true,
    default: true,
    description: 'Requires a token of OPTIONS requests, too.',
  }),
  maximum_expiration: number({
    default: 0,
    between: [0, 31_536_000],
    unit: 's',
    description: 'Maximum time until a token expires. If set, a token without `exp` is rejected. 0: no limit.',
  }),
  header_names: set(headerName(), {
    default: ['authorization'],
    description: 'Headers that may hold the token, as `Bearer <token>`.',
  }),
  realm: string({ description: 'Realm in the `WWW-Authenticate` header of rejections.' }),
  leeway: integer({
    required: true,
    default: 0,
    between: [0, 3600],
    unit: 's',
    description: 'Tolerated difference between the clocks of the issuer and the gateway.',
  }),
  jwks_uri: url({
    description:
      'URL of the public keys of an issuer (a JWK set). Tokens are then verified with these keys instead of credentials.',
  }),
  jwks_algorithms: set(string({ one_of: algorithmNames.filter((name) => !name.startsWith('HS')) }), {
    required: true,
    default: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    description: 'Algorithms that tokens of `jwks_uri` may be signed with.',
  }),
  jwks_ttl: integer({
    required: true,
    default: 3600,
    between: [1, 86_400],
    unit: 's',
    description: 'Age at which the keys are fetched again in the background.',
  }),
  jwks_cooldown: integer({
    required: true,
    default: 30,
    between: [1, 3600],
    unit: 's',
    description: 'Minimum time between two fetches, even when a token names an unknown key.',
  }),
  jwks_require_exp: boolean({
    required: true,
    default: true,
    description:
      'Tokens of `jwks_uri` must have an `exp`. If off, a token without one is valid until its key is withdrawn.',
  }),
  jwks_timeout: timeout({ required: true, default: 5000, description: 'Timeout of a fetch.' }),
  jwks_ssl_verify: boolean({ required: true, default: true, description: 'Verifies the certificate of `jwks_uri`.' }),
  issuers: set(string(), { description: 'Trusted issuers (`iss`). Default: any.' }),
  audiences: set(string(), {
    description: 'Accepted audiences (`aud`); a token must be for one of them. Default: any.',
  }),
  consumer_claim: string({
    description: 'With `jwks_uri`: claim that names the consumer. Default: tokens belong to no consumer.',
  }),
  consumer_by: string({
    required: true,
    default: 'username',
    one_of: ['username', 'custom_id', 'id'],
    description: 'Field of the consumer that the claim is compared with.',
  }),
});

export type JwtConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: given }) => {
        const { maximum_expiration: longest, claims_to_verify: claims } = given as JwtConfig;
        // Kong looks at `claims_to_verify` only when it is set.
        if (!((longest ?? 0) > 0) || claims === null || claims === undefined || claims.includes('exp')) return null;
        return {
          '@entity': "failed conditional validation given value of field 'config.maximum_expiration'",
          'config.claims_to_verify': 'expected to contain: exp',
        };
      },
    },
  },
];
