import { boolean, cookieName, number, string } from '../../plugin-sdk/schema.ts';

const attribute = /^[\x21-\x3a\x3c-\x7e]+$/;

export function seconds(value: number, description: string) {
  return number({ required: true, default: value, between: [0, 100_000_000], unit: 's', description });
}

/** The session and its cookie. */
export const sessionFields = {
  session_secret: string({
    auto: true,
    referenceable: true,
    encrypted: true,
    description:
      'Cookies are encrypted with it. Anyone who knows it can create sessions. Changing it ends all sessions.',
  }),
  session_audience: string({
    required: true,
    default: 'default',
    description: 'A name for the application. Sessions of another audience are not accepted.',
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
    description: 'The cookies are sent over TLS only. Unset: if `redirect_uri` is https.',
  }),
  session_absolute_timeout: seconds(86_400, 'Maximum time from the login to the end of the session.'),
  session_idling_timeout: seconds(900, 'A session ends after this time without use. 0: never.'),
};
