import { isJsonNumber, type JsonValue } from '../../../plugin-kit/json/index.ts';
import { type Item, parseReference, type Reference, resolve, type Sources, TemplateError } from './reference.ts';

/** A text with references. */
export interface Template {
  readonly references: readonly Reference[];
  /** The filled text; undefined if a reference has no value. */
  fill(sources: Sources, item: Item | null): string | undefined;
}

const reference = /\{([^{}]*)\}/g;

export interface TemplateOptions {
  /** False: an empty value counts as missing. Default: true. */
  readonly allowEmpty?: boolean;
  /** Encodes the text next to the references, too. Default: false. */
  readonly encodeAll?: boolean;
}

/** Parses `/users/{user.body.id}`: references are in braces, `encode` escapes their values. Throws a `TemplateError`. */
export function compileTemplate(
  text: string,
  encode: (value: string) => string,
  { allowEmpty = true, encodeAll = false }: TemplateOptions = {},
): Template {
  const literal = (piece: string): string => (encodeAll ? encode(withoutBraces(piece)) : withoutBraces(piece));
  const literals: string[] = [];
  const references: Reference[] = [];
  let from = 0;
  for (const found of text.matchAll(reference)) {
    literals.push(literal(text.slice(from, found.index)));
    references.push(parseReference(found[1] as string));
    from = found.index + found[0].length;
  }
  const end = literal(text.slice(from));
  if (references.length === 0) return { references, fill: () => end };
  const fill = (sources: Sources, item: Item | null): string | undefined => {
    let filled = '';
    for (let at = 0; at < references.length; at++) {
      const value = textOf(resolve(references[at]!, sources, item));
      if (value === undefined || (value === '' && !allowEmpty)) return undefined;
      filled += literals[at]! + encode(value);
    }
    return filled + end;
  };
  return { references, fill };
}

function withoutBraces(text: string): string {
  if (/[{}]/.test(text)) throw new TemplateError('a brace has no counterpart');
  return text;
}

/** A value as text for a path, a query or a header: scalars, and lists of them joined by commas. Undefined for other values. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (isJsonNumber(value)) return value.rawJSON;
  if (!Array.isArray(value)) return undefined;
  const texts = value.map(textOf);
  return texts.includes(undefined) ? undefined : texts.join(',');
}

/** The result cannot end a segment, a path or a query, nor begin another argument. */
export function percentEncoded(value: string): string {
  return /^[A-Za-z0-9_~-]*$/.test(value) ? value : encodeURIComponent(value.toWellFormed());
}

const lineEnds = /[\x00-\x1f\x7f]+/g;

/** The result cannot end a header line. */
export function headerSafe(value: string): string {
  return value.replace(lineEnds, ' ').toWellFormed().trim();
}

/** For XML character data and attribute values; characters that XML 1.0 does not allow are removed. */
export function xmlEscaped(value: string): string {
  return value
    .toWellFormed()
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/**
 * A segment that a server might treat as `.` or `..`, also next to an escaped slash, backslash or semicolon; and control
 * characters.
 */
const unsafePath = /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?:\/|%2f|%5c|%3b|;|$)|%[01][0-9a-f]|%7f/i;

const maxPathLength = 8_192;

/** False: a server might read this path as a different one. */
export function isSafePath(path: string): boolean {
  return path.length <= maxPathLength && !unsafePath.test(path) && !path.includes('//');
}
