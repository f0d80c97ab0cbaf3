import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** True when the request shows the token as `Authorization: Bearer` or `Kong-Admin-Token`. Compares in constant time. */
export function showsToken(headers: IncomingHttpHeaders, token: string): boolean {
  const wanted = digest(token);
  return tokensIn(headers).some((value) => timingSafeEqual(digest(value), wanted));
}

/** The tokens that a request shows, `Kong-Admin-Token` first: a proxy in front of the Admin API may need `Authorization`. */
export function tokensIn(headers: IncomingHttpHeaders): readonly string[] {
  const values: string[] = [];
  const header = headers['kong-admin-token'];
  if (typeof header === 'string') values.push(header);
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) values.push(bearer);
  return values;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
