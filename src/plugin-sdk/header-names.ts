/** Names of headers that are set together, with each answer. Made once, in `setup`, by `headerNames`. */
export interface HeaderNames {
  readonly names: readonly string[];
  /** In lower case. */
  readonly lower: readonly string[];
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Headers that frame a message or control its connection. Only the gateway writes them. */
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

/** True for one of them, in any case and also with `_` for `-`: many backends treat the two alike. */
export function isFramingHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return framingHeaders.has(lower.includes('_') ? lower.replaceAll('_', '-') : lower);
}

/** Throws when one of them is no header name, or one of those that frame a message. */
export function headerNames(names: readonly string[]): HeaderNames {
  for (const name of names) {
    if (!token.test(name) || isFramingHeader(name)) throw new Error(`plugins cannot set ${JSON.stringify(name)}`);
  }
  return Object.freeze({
    names: Object.freeze([...names]),
    lower: Object.freeze(names.map((name) => name.toLowerCase())),
  });
}
