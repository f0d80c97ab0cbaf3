/** A pair of a transformer's configuration. */
export interface NamedValue {
  readonly name: string;
  /** '' if absent. */
  readonly value: string;
}

const bracketed = /\[(?:'[^']*'|"[^"]*")\]/y;

/**
 * Parses Kong's `name:value`. The name ends at the first colon outside of `['...']`; further colons directly after it are skipped.
 * Null: there is no name.
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

const quoted = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/y;

/** The same where the name may be a path of RFC 9535: colons in its brackets belong to it, `$.a[0:2]['b:c']:value`. */
export function namedField(text: string): NamedValue | null {
  const end = /^\$[.[]/.test(text) ? pathEnd(text) : null;
  if (end === null) return namedValue(text);
  return { name: text.slice(0, end), value: text.slice(end).replace(/^:+/, '') };
}

/** Index of the first colon outside of brackets, or of the end; null when brackets or quotation marks are left open. */
function pathEnd(text: string): number | null {
  let depth = 0;
  let at = 0;
  while (at < text.length && (depth > 0 || text[at] !== ':')) {
    const char = text[at];
    quoted.lastIndex = at;
    if (depth > 0 && quoted.test(text)) at = quoted.lastIndex;
    else {
      if (char === '[') depth++;
      else if (char === ']') depth--;
      at++;
    }
  }
  return depth === 0 ? at : null;
}
