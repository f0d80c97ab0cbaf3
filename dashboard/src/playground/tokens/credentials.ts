import { TokenError, toBase64, utf8 } from './bytes.ts';

/** `Authorization` of basic-auth. */
export function basicCredentials(username: string, password: string): string {
  if (username === '') throw new TokenError('Enter the user name.');
  if (username.includes(':')) throw new TokenError('A user name has no colon.');
  return `Basic ${toBase64(utf8(`${username}:${password}`))}`;
}
