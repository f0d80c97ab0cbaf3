import type { RequestView } from '../../plugin-sdk/request-views.ts';

/** RFC 6750, 2.1. */
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const notQuotable = /[^\x20-\x7e]/g;

/**
 * The token of `Authorization: Bearer <token>`; null: the request has none; '': it has several, or what follows `Bearer` is no
 * token.
 */
export function bearerToken(request: RequestView): string | null {
  const values = request.headerValues('authorization');
  const first = values[0];
  if (first === undefined || !/^bearer(?: |$)/i.test(first)) {
    return values.some((value) => /^bearer(?: |$)/i.test(value)) ? '' : null;
  }
  return values.length > 1 ? '' : (bearer.exec(first)?.[1] ?? '');
}

/** The value of `WWW-Authenticate` for bearer tokens (RFC 6750, 3). Parameters that are null are left out. */
export function bearerChallenge(parameters: Readonly<Record<string, string | null>>): string {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== null);
  if (pairs.length === 0) return 'Bearer';
  return `Bearer ${pairs.map(([name, value]) => `${name}="${quotable(value ?? '')}"`).join(', ')}`;
}

function quotable(value: string): string {
  return value.replace(notQuotable, '').replace(/["\\]/g, '\\$&');
}
