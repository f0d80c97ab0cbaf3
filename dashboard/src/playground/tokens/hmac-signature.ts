import { latin1, needCrypto, TokenError, toBase64, utf8 } from './bytes.ts';

/** Those of hmac-auth, as WebCrypto names their hashes. */
export const hmacAlgorithms: Readonly<Record<string, string>> = {
  'hmac-sha256': 'SHA-256',
  'hmac-sha384': 'SHA-384',
  'hmac-sha512': 'SHA-512',
  'hmac-sha1': 'SHA-1',
};

export interface SignedRequest {
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  /** Null: the request has no body, and no digest is signed. */
  readonly body: string | null;
}

export interface HmacParts {
  readonly username: string;
  readonly secret: string;
  readonly algorithm: string;
  readonly request: SignedRequest;
  /** When it is signed; default: now. */
  readonly date?: Date;
}

/** The headers of a signed request: `Date`, `Digest` with a body, and `Authorization`. They fit this request only. */
export async function hmacHeaders(parts: HmacParts): Promise<Readonly<Record<string, string>>> {
  const { username, secret, algorithm, request, date = new Date() } = parts;
  const subtle = needCrypto();
  const hash = hmacAlgorithms[algorithm];
  if (hash === undefined) throw new TokenError(`There is no algorithm ${algorithm}.`);
  if (username === '' || secret === '') throw new TokenError('Enter the user name and the secret.');
  if (/["\\\x00-\x1f\x7f-\uffff]/.test(username)) throw new TokenError('The user name has a quote or is not ASCII.');
  const headers: Record<string, string> = { Date: date.toUTCString() };
  const lines = [`date: ${headers['Date']}`, `${request.method} ${request.target} HTTP/1.1`];
  const names = ['date', 'request-line'];
  if (request.body !== null) {
    const digest = new Uint8Array(await subtle.digest('SHA-256', utf8(request.body)));
    headers['Digest'] = `SHA-256=${toBase64(digest)}`;
    lines.push(`digest: ${headers['Digest']}`);
    names.push('digest');
  }
  const key = await subtle.importKey('raw', utf8(secret), { name: 'HMAC', hash }, false, ['sign']);
  const signature = toBase64(new Uint8Array(await subtle.sign('HMAC', key, latin1(lines.join('\n')))));
  const fields = { username, algorithm, headers: names.join(' '), signature };
  const list = Object.entries(fields).map(([name, value]) => `${name}="${value}"`);
  return { ...headers, Authorization: `hmac ${list.join(', ')}` };
}
