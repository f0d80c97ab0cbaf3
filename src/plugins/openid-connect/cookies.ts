import { type SealedCookie, sealedCookie } from '../../plugin-kit/auth/index.ts';
import { type AccessContext, contextKey, type HeaderFilterContext } from '../../plugin-sdk/index.ts';
import type { OpenIdConfig } from './schema.ts';

const pending = contextKey<string[]>('openid-connect cookies');

/** `Set-Cookie` lines, until the headers of the response are written. */
export function sendCookies(context: AccessContext, lines: readonly string[]): void {
  const held = context.get(pending);
  if (held === undefined) context.set(pending, [...lines]);
  else held.push(...lines);
}

export function addCookies(context: HeaderFilterContext): void {
  for (const line of context.get(pending) ?? []) context.response.addHeader('Set-Cookie', line);
}

/** The cookies of the session and of pending logins. They are valid for one issuer, client and audience only. */
export function cookiesOf(config: OpenIdConfig, secret: string) {
  const { redirect_uri: redirect, session_cookie_path: path, session_cookie_domain: domain } = config;
  const secure = config.session_cookie_secure ?? redirect?.[0]?.startsWith('https:') ?? true;
  const { issuer, client_id: clients, session_audience: audience } = config;
  const purpose = `openid-connect\0${issuer}\0${clients?.[0] ?? ''}\0${audience}`;
  const cookie = (name: string, httpOnly: boolean, sameSite: 'Strict' | 'Lax' | 'None'): SealedCookie =>
    sealedCookie({ secret, purpose, name, attributes: { path, domain, secure, httpOnly, sameSite } });
  return {
    session: cookie(config.session_cookie_name, config.session_cookie_http_only, config.session_cookie_same_site),
    // The provider redirects the browser back: with `Strict` it would not send the cookie.
    login: cookie(config.authorization_cookie_name, true, 'Lax'),
  };
}
