import { isUtf8 } from 'node:buffer';

/** A user name and password as a client sent them. */
export interface Login {
  readonly username: string;
  readonly password: Uint8Array;
}

/** Maximum characters of a header field; longer ones are ignored. */
const maxField = 4096;
const maxUsername = 256;
const control = /[\x00-\x1f\x7f-\x9f]/;

/**
 * The credentials after the scheme, still encoded; null when there are no credentials of this scheme. Repeated fields
 * do not count: another reader could take the other one. `scheme`: in lower case.
 */
export function credentialsOf(values: readonly string[], scheme: string): string | null {
  const value = values[0];
  if (value === undefined || values.length > 1 || value.length > maxField) return null;
  if (!hasScheme(value, scheme)) return null;
  return value.slice(scheme.length + 1).trim();
}

/** Whether the field has this scheme, which is in lower case. */
export function hasScheme(value: string, scheme: string): boolean {
  return value.charCodeAt(scheme.length) === 0x20 && value.slice(0, scheme.length).toLowerCase() === scheme;
}

/** `user:password` in base64. Null when it is not that, or when a part is empty or could be misread by a server. */
export function decodeLogin(credentials: string): Login | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(credentials)) return null;
  const bytes = Buffer.from(credentials, 'base64');
  const colon = bytes.indexOf(0x3a);
  if (colon < 1 || !isUtf8(bytes)) return null;
  const username = bytes.toString('utf8', 0, colon);
  const password = bytes.subarray(colon + 1);
  // A server that ends strings at NUL would see an empty password, with which any client can bind (RFC 4513, 5.1.2).
  if (password.byteLength === 0 || password.includes(0)) return null;
  return username.length > maxUsername || control.test(username) ? null : { username, password };
}
