/** A template that cannot be read; the message says why. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

export type Token =
  | { readonly kind: 'name' | 'text' | 'symbol'; readonly value: string; readonly end: number }
  | { readonly kind: 'number'; readonly value: number; readonly end: number }
  | { readonly kind: 'end'; readonly value: ''; readonly end: number };

const shapes =
  /[ \t\r\n]*(?:([A-Za-z_][A-Za-z0-9_]*)|(\d{1,15}(?:\.\d{1,15})?)|(["'])((?:(?!\3)[^\\\r\n]|\\.)*)\3|(\.\.|==|~=|!=|<=|>=|[()[\].,:<>-]))/y;

/** The token at or after `at` in `text`. Throws a `TemplateError` for an invalid one. */
export function tokenAt(text: string, at: number): Token {
  shapes.lastIndex = at;
  const found = shapes.exec(text);
  if (found === null) return otherwise(text, at);
  const end = shapes.lastIndex;
  const [, name, digits, , quoted, symbol] = found;
  if (name !== undefined) return { kind: 'name', value: name, end };
  if (digits !== undefined) return { kind: 'number', value: Number(digits), end };
  if (symbol !== undefined) return { kind: 'symbol', value: symbol, end };
  return { kind: 'text', value: unescaped(quoted as string), end };
}

function otherwise(text: string, at: number): Token {
  const rest = text.slice(at).trimStart();
  if (rest === '') return { kind: 'end', value: '', end: text.length };
  throw new TemplateError(`character ${text.length - rest.length + 1} is not expected`);
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, char: string) => (char === 'n' ? '\n' : char === 't' ? '\t' : char));
}
