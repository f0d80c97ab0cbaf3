export interface NamedValue {
  readonly name: string;
  /** '' when there is none. */
  readonly value: string;
}

const bracketed = /\[(?:'[^']*'|"[^"]*")\]/y;

/**
 * Kong's `name:value`: the name ends at the first colon, but not at one within `['...']`; the colons that follow belong to neither.
 * Null when there is no name.
 */
export function namedValue(text: string): NamedValue | null {
  let at = 0;
  while (at < text.length && text[at] !== ':') {
    bracketed.lastIndex = at;
    at = bracketed.test(text) ? bracketed.lastIndex : at + 1;
  }
  if (at === 0) return null;
  const name = text.slice(0, at);
  while (text[at] === ':') at++;
  return { name, value: text.slice(at) };
}
