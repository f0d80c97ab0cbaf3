import type { Claims } from '../../plugin-kit/auth/index.ts';

/** The content of the cookie. Times are in seconds since the epoch. */
export interface Session {
  /** Random; the same in all renewals of the cookie, so that a logout ends every copy. */
  readonly login: string;
  readonly accessToken: string;
  readonly expiresAt: number | null;
  readonly refreshToken: string | null;
  readonly idToken: string;
  readonly scopes: readonly string[];
  readonly begunAt: number;
  readonly usedAt: number;
}

/** Null for any other text: it was encrypted, but may come from an older version. */
export function decodeSession(text: string): Session | null {
  try {
    const value: unknown = JSON.parse(text);
    return isSession(value) && isObject(payloadOf(value.idToken)) ? value : null;
  } catch {
    return null;
  }
}

/** Claims of an ID token that was verified when it was received; only the gateway can write the cookie. */
export function payloadOf(idToken: string): Claims {
  return JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8')) as Claims;
}

function isSession(value: unknown): value is Session {
  if (!isObject(value)) return false;
  const { login, accessToken, expiresAt, refreshToken, idToken, scopes, begunAt, usedAt } = value;
  if (![login, accessToken, idToken].every((text) => typeof text === 'string')) return false;
  if (refreshToken !== null && typeof refreshToken !== 'string') return false;
  if (expiresAt !== null && typeof expiresAt !== 'number') return false;
  if (typeof begunAt !== 'number' || typeof usedAt !== 'number') return false;
  return Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
