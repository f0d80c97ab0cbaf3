/** Names of headers that are set together, with each answer. Made once, in `setup`, by `headerNames`. */
export interface HeaderNames {
  readonly names: readonly string[];
  /** In lower case. */
  readonly lower: readonly string[];
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const framing = /^(connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

/** Throws when one of them is no header name, or one of those that frame a message. */
export function headerNames(names: readonly string[]): HeaderNames {
  for (const name of names) {
    if (!token.test(name) || framing.test(name)) throw new Error(`${JSON.stringify(name)} cannot be set by a plugin`);
  }
  return Object.freeze({
    names: Object.freeze([...names]),
    lower: Object.freeze(names.map((name) => name.toLowerCase())),
  });
}
