import { array, boolean, type Field, integer, number, string } from '../../plugin-sdk/schema.ts';

/*
 * Fields of Kong's plugin that have only one value here: it is accepted, any other is refused. And names that
 * Kong has deprecated, or for which this plugin uses other names.
 */

const always = (description: string) => boolean({ default: true, eq: true, err: 'must be true', description });

export const fixedFields = {
  cache_tokens_salt: string({
    encrypted: true,
    description:
      'Accepted for compatibility with Kong and ignored: tokens are cached by their hash, in the memory of each worker.',
  }),
  cache_tokens: boolean({
    default: true,
    description: 'Accepted for compatibility with Kong and ignored: only the result of verifying a token is cached.',
  }),
  verify_signature: always('Signatures are always verified.'),
  verify_claims: always('Claims are always verified.'),
  verify_nonce: always('The nonce of a login is always verified.'),
  response_mode: string({
    default: 'query',
    one_of: ['query'] as const,
    description: 'How the provider returns the code.',
  }),
  response_type: array(string({ one_of: ['code'] as const, description: 'A type.' }), {
    default: ['code'],
    len_min: 1,
    len_max: 1,
    description: 'Response type that a login requests.',
  }),
  login_action: string({
    default: 'redirect',
    one_of: ['redirect'] as const,
    description: 'Action after a login: a redirect, so that the backend never sees the code.',
  }),
  session_storage: string({
    default: 'cookie',
    one_of: ['cookie'] as const,
    description: 'Where the session is stored.',
  }),
};

const ignored = (field: Field) => ({ field, expand: () => ({}) });

export const otherNames = {
  client_auth: {
    field: array(string({ one_of: ['client_secret_basic', 'client_secret_post', 'none'] }), { len_min: 1, len_max: 1 }),
    expand: (value: readonly string[]) => ({ token_endpoint_auth_method: value[0] }),
  },
  authorization_rolling_timeout: {
    field: number(),
    expand: (value: number) => ({ authorization_cookie_lifetime: value }),
  },
  session_cookie_idletime: { field: number(), expand: (value: number) => ({ session_idling_timeout: value }) },
  session_cookie_httponly: { field: boolean(), expand: (value: boolean) => ({ session_cookie_http_only: value }) },
  session_cookie_samesite: {
    field: string({ one_of: ['Strict', 'Lax', 'None', 'off'] }),
    expand: (value: string) => ({ session_cookie_same_site: value === 'off' ? 'Lax' : value }),
  },
  session_cookie_renew: ignored(number()),
  session_cookie_maxsize: ignored(integer()),
  session_strategy: ignored(string()),
  session_compressor: ignored(string()),
};
