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
/** What may stand in an attribute of a cookie. */
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
      description: 'Cookies are encrypted with it. Whoever knows it can make sessions; with another one, all are void.',
    }),
    storage: string({
      default: 'cookie',
      one_of: ['cookie', 'kong'] as const,
      description:
        '`cookie`: stored in the cookie. `kong`: stored in the database, where administrators can list and delete it.',
    }),
    audience: string({
      default: 'default',
      description: 'Sessions of another audience are not accepted: a name for the application.',
    }),
    idling_timeout: seconds(900, 'A session ends that was not used for so long. 0: never.'),
    rolling_timeout: seconds(3600, 'A session ends that was not renewed for so long; use renews it. 0: never.'),
    absolute_timeout: seconds(86400, 'A session ends that long after it began. 0: never.'),
    stale_ttl: seconds(10, 'How long a renewed session is still accepted (`storage: kong`).'),
    sessions_per_credential: integer({
      default: 1000,
      between: [0, 1000],
      description:
        'Maximum stored sessions of one credential (`storage: kong`). A further login ends the session that expires first. 0: no limit.',
    }),
    cookie_name: cookieName({ default: 'session', description: 'Name of the cookie.' }),
    cookie_path: string({ default: '/', starts_with: '/', match: attribute, description: 'Path of the cookie.' }),
    cookie_domain: string({ match: attribute, description: 'Domain of the cookie. Unset: only the host that set it.' }),
    cookie_same_site: string({
      default: 'Strict',
      one_of: ['Strict', 'Lax', 'None', 'Default'] as const,
      description: 'Whether requests from other sites carry the cookie. `Default`: the browser decides.',
    }),
    cookie_http_only: boolean({ default: true, description: 'Scripts cannot read the cookie.' }),
    cookie_secure: boolean({ default: true, description: 'The cookie is sent over TLS only.' }),
    remember: boolean({
      default: false,
      description: 'A second cookie outlives the browser, and begins a new session when the first one is over.',
    }),
    remember_cookie_name: cookieName({ default: 'remember', description: 'Name of the second cookie.' }),
    remember_rolling_timeout: seconds(604800, 'The second cookie ends that was not used for so long. 0: never.'),
    remember_absolute_timeout: seconds(2592000, 'The second cookie ends that long after the login. 0: never.'),
    response_headers: set(string({ one_of: shown }), {
      description: 'What the answer tells of the session, in headers such as `Session-Id`.',
    }),
    request_headers: set(string({ one_of: shown }), {
      description: 'What the backend is told of the session, likewise.',
    }),
    read_body_for_logout: boolean({
      default: false,
      description: 'A logout may be asked for in the body of a request too.',
    }),
    logout_methods: set(string({ one_of: logoutMethods }), {
      default: ['POST', 'DELETE'],
      description: 'Methods of requests that may ask for a logout.',
    }),
    logout_query_arg: string({
      default: 'session_logout',
      description: 'A request with this query argument asks for a logout.',
    }),
    logout_post_arg: string({
      default: 'session_logout',
      description: 'With `read_body_for_logout`: a request with this argument in its body asks for a logout.',
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
