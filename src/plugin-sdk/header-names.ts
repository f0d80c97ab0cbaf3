/** Names of headers that are set together on every response. Made once, in `setup`, with `headerNames`. */
export interface HeaderNames {
  /** As they are sent. */
  readonly names: readonly string[];
  /** The same in lower case. */
  readonly lower: readonly string[];
  /** The texts around the values: `First: `, `\r\nSecond: `, ..., `\r\n`. Null: a name occurs twice. */
  readonly joints: readonly string[] | null;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Lower-case names of the headers that frame a message or control its connection. Only the gateway writes them. */
export const framingHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** True for a name in `framingHeaders`, in any case, also with `_` instead of `-`: many backends treat the two alike. */
export function isFramingHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return framingHeaders.has(lower.includes('_') ? lower.replaceAll('_', '-') : lower);
}

/**
 * Checks names once, so that `response.setHeaders` need not.
 *
 * @throws Error for a name that is no header name, or one in `framingHeaders`.
 *
 * @example
 * const names = headerNames(['RateLimit-Limit', 'RateLimit-Remaining']); // in setup
 * response.setHeaders(names, ['10', '9']); // in headerFilter
 */
export function headerNames(names: readonly string[]): HeaderNames {
  for (const name of names) {
    if (!token.test(name) || isFramingHeader(name)) throw new Error(`plugins cannot set ${JSON.stringify(name)}`);
  }
  const lower = names.map((name) => name.toLowerCase());
  const joints = [...names.map((name, at) => `${at === 0 ? '' : '\r\n'}${name}: `), '\r\n'];
  return Object.freeze({
    names: Object.freeze([...names]),
    lower: Object.freeze(lower),
    joints: new Set(lower).size < lower.length ? null : Object.freeze(joints),
  });
}
