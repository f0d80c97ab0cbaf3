/** A request that is sent to a proxy listener to be explained. */
export interface ExplainedRequest {
  readonly method: string;
  /** Path and query, escaped. */
  readonly path: string;
  /** In latin1, as they are sent. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | null;
  /** The request is sent with TLS. */
  readonly secure: boolean;
  readonly dry: boolean;
}

/** What a URL says of a request. */
export interface RequestTarget {
  readonly path: string;
  /** Null: the URL is only a path. */
  readonly host: string | null;
  readonly secure: boolean;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

export function isToken(text: string): boolean {
  return token.test(text);
}

/** A path, or a URL as the client of the gateway would write it. A text instead: what is wrong with it. */
export function parseTarget(text: string): RequestTarget | string {
  if (text.startsWith('/')) return target(text, null, false);
  const parts = /^(https?):\/\/([^/?#]+)([^#]*)$/i.exec(text);
  if (parts === null) return `'${text}' is neither a path (/users/42) nor a URL (http://example.com/users/42)`;
  const [, scheme = '', host = '', rest = ''] = parts;
  return target(rest.startsWith('/') ? rest : `/${rest}`, host, scheme.toLowerCase() === 'https');
}

function target(path: string, host: string | null, secure: boolean): RequestTarget | string {
  if (/[\x00-\x20\x7f]/.test(path)) return 'the path has a space or a control character: write it as %20';
  if (host !== null && /[\x00-\x20\x7f-\uffff@\\]/.test(host))
    return `'${host}' is not a host (example.com or example.com:8443)`;
  return { path: utf8Bytes(path).replace(/[\x80-\xff]/g, escaped), host, secure };
}

/** Null: the value may be sent as it is. */
export function headerProblem(name: string, value: string): string | null {
  if (!isToken(name)) return `'${name}' is not the name of a header`;
  return /[\x00-\x08\x0a-\x1f\x7f]/.test(value) ? `the value of the header ${name} has a control character` : null;
}

/** Headers are sent as latin1; other characters are sent as UTF-8 bytes. */
export function utf8Bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A body that looks like JSON is sent as JSON; any other as curl does. */
export function contentTypeOf(body: Uint8Array): string {
  return /^\s*[[{]/.test(Buffer.from(body.subarray(0, 100)).toString('latin1'))
    ? 'application/json'
    : 'application/x-www-form-urlencoded';
}

/** Value of the header, or null; names in any case. */
export function headerOf({ headers }: Pick<ExplainedRequest, 'headers'>, name: string): string | null {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? null;
}

function escaped(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
}
