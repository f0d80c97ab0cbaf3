import type { RequestView } from '../../plugin-sdk/request-views.ts';

/** Attributes of `Set-Cookie` (RFC 6265). */
export interface CookieAttributes {
  readonly path: string;
  /** Null: only the host that set it. */
  readonly domain: string | null;
  /** Null: no attribute; the browser decides. */
  readonly sameSite: 'Strict' | 'Lax' | 'None' | null;
  readonly httpOnly: boolean;
  readonly secure: boolean;
}

/**
 * Values of all cookies of this name, in order, without quotes around them (RFC 6265).
 *
 * @example
 * const [session] = cookieValues(context.request, 'session');
 */
export function cookieValues(request: RequestView, name: string): readonly string[] {
  const values: string[] = [];
  for (const line of request.headerValues('cookie')) {
    for (const pair of line.split(';')) {
      const equals = pair.indexOf('=');
      if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
      const value = pair.slice(equals + 1).trim();
      values.push(value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value);
    }
  }
  return values;
}

/**
 * A value for `Set-Cookie`. `value` must consist of cookie characters. `maxAge`: seconds; null: until the browser is closed.
 *
 * @example
 * const attributes = { path: '/', domain: null, sameSite: 'Lax', httpOnly: true, secure: true } as const;
 * response.addHeader('Set-Cookie', setCookie('variant', 'b', attributes, 86_400));
 */
export function setCookie(name: string, value: string, attributes: CookieAttributes, maxAge: number | null): string {
  const { path, domain, sameSite, httpOnly, secure } = attributes;
  let line = `${name}=${value}; Path=${path}`;
  if (domain !== null) line += `; Domain=${domain}`;
  if (maxAge !== null) line += `; Max-Age=${Math.floor(maxAge)}`;
  if (sameSite !== null) line += `; SameSite=${sameSite}`;
  if (secure) line += '; Secure';
  if (httpOnly) line += '; HttpOnly';
  return line;
}
