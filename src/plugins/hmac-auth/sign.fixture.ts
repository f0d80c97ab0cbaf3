import { createHash, createHmac } from 'node:crypto';

export interface Signing {
  readonly username?: string;
  readonly secret?: string;
  readonly algorithm?: string;
  /** The signed headers, in order. Default: date and request-line. */
  readonly names?: readonly string[];
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The text that a client signs, implemented separately from the plugin. */
export function signedText({ names = defaultNames, method = 'GET', target = '/', headers = {} }: Signing): string {
  const lines = names.map((name) => {
    if (name === 'request-line') return `${method} ${target} HTTP/1.1`;
    if (name === '@request-target') return `@request-target: ${method.toLowerCase()} ${target}`;
    const value = headers[name];
    return value === undefined ? `${name}:` : `${name}: ${value}`;
  });
  return lines.join('\n');
}

/** The header value that a client sends. */
export function authorization(signing: Signing): string {
  const { username = 'alice', secret = 'alices-secret', algorithm = 'hmac-sha256', names = defaultNames } = signing;
  const digest = createHmac(algorithm.replace('hmac-', ''), secret).update(signedText(signing), 'latin1').digest();
  return `hmac username="${username}", algorithm="${algorithm}", headers="${names.join(' ')}", signature="${digest.toString('base64')}"`;
}

export function digestOf(body: string): string {
  return `SHA-256=${createHash('sha256').update(body).digest('base64')}`;
}

/** An HTTP date, this many seconds from now. */
export function dateIn(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString();
}

const defaultNames = ['date', 'request-line'] as const;
