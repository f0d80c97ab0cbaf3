import { boolean, cookieName, type Infer, integer, number, record, set, string } from '../../plugin-sdk/schema.ts';

const shown = [
  'id',
  'audience',
  'subject',
  'timeout',
  'idling-timeout',
  'rolling-timeout',
  'absolute-timeout',
] as const;
const logoutMethods = ['GET', 'POST', 'DELETE'] as const;
/** Characters that are allowed in an attribute of a cookie. */
const attribute = /^[\x21-\x3a\x3c-\x7e]+$/;

function seconds(value: number, description: string) {
  return number({ default: value, between: [0, 100_000_000_000], unit: 's', description });
}

export const config = record(
  {
    secret: string({
      auto: true,
      referenceable: true,
      encrypted: true,
      description:
        'Secret that encrypts the cookies. Anyone who knows it can forge sessions; a change ends all sessions.',
    }),
    storage: string({
      default: 'cookie',
      one_of: ['cookie', 'kong'] as const,
      description:
        "`cookie`: in the cookie. `kong`: in the gateway's store, where administrators can list and delete sessions.",
    }),
    audience: string({
      default: 'default',
      description: 'Name of the application. Sessions with another audience are not accepted.',
    }),
    idling_timeout: seconds(900, 'Lifetime of a session after its last use. 0: no limit.'),
    rolling_timeout: seconds(3600, 'Lifetime of a session after its last renewal; use renews it. 0: no limit.'),
    absolute_timeout: seconds(86400, 'Lifetime of a session after its begin. 0: no limit.'),
    stale_ttl: seconds(10, 'Time that a renewed session is still accepted (`storage: kong`).'),
    sessions_per_credential: integer({
      default: 1000,
      between: [0, 1000],
      description:
        'Maximum number of stored sessions of one credential (`storage: kong`). A further login ends the session that expires first. 0: no limit.',
    }),
    cookie_name: cookieName({ default: 'session', description: 'Name of the cookie.' }),
    cookie_path: string({ default: '/', starts_with: '/', match: attribute, description: 'Path of the cookie.' }),
    cookie_domain: string({
      match: attribute,
      description: 'Domain of the cookie. Unset: only the host that sets it.',
    }),
    cookie_same_site: string({
      default: 'Strict',
      one_of: ['Strict', 'Lax', 'None', 'Default'] as const,
      description: 'The `SameSite` attribute of the cookie. `Default`: the browser decides.',
    }),
    cookie_http_only: boolean({ default: true, description: 'Hides the cookie from scripts (`HttpOnly`).' }),
    cookie_secure: boolean({ default: true, description: 'Sends the cookie over TLS only.' }),
    remember: boolean({
      default: false,
      description:
        'Sets a second cookie that outlives the browser, and begins a new session when the first one has expired.',
    }),
    remember_cookie_name: cookieName({ default: 'remember', description: 'Name of the second cookie.' }),
    remember_rolling_timeout: seconds(604800, 'Lifetime of the second cookie after its last use. 0: no limit.'),
    remember_absolute_timeout: seconds(2592000, 'Lifetime of the second cookie after the login. 0: no limit.'),
    response_headers: set(string({ one_of: shown }), {
      description: 'Facts about the session that the response has, in headers such as `Session-Id`.',
    }),
    request_headers: set(string({ one_of: shown }), {
      description: 'Facts about the session that the backend receives, in the same headers.',
    }),
    read_body_for_logout: boolean({
      default: false,
      description: 'Searches bodies of requests for a logout, too.',
    }),
    logout_methods: set(string({ one_of: logoutMethods }), {
      default: ['POST', 'DELETE'],
      description: 'Methods of requests that may log out.',
    }),
    logout_query_arg: string({
      default: 'session_logout',
      description: 'Query argument that logs out.',
    }),
    logout_post_arg: string({
      default: 'session_logout',
      description: 'With `read_body_for_logout`: body argument that logs out.',
    }),
  },
  {
    // Names of old versions, accepted on input only.
    shorthands: {
      cookie_lifetime: { field: number(), expand: (value: number) => ({ rolling_timeout: value }) },
      cookie_idletime: { field: number(), expand: (value: number) => ({ idling_timeout: value }) },
      cookie_discard: { field: number(), expand: (value: number) => ({ stale_ttl: value }) },
      cookie_renew: { field: number(), expand: () => ({}) },
      cookie_httponly: { field: boolean(), expand: (value: boolean) => ({ cookie_http_only: value }) },
      cookie_samesite: {
        field: string({ one_of: ['Strict', 'Lax', 'None', 'Default', 'off'] }),
        expand: (value: string) => ({ cookie_same_site: value === 'off' ? 'Lax' : value }),
      },
      cookie_persistent: { field: boolean(), expand: (value: boolean) => ({ remember: value }) },
    },
  },
);

export type SessionConfig = Infer<typeof config>;
