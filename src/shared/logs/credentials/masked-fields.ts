import { decodeFormText } from '../../util/bytes/percent-decoding.ts';
import { redacted } from '../masked-arguments.ts';
import { maxNameLength, type SecretFields } from './secret-names.ts';

const quotes = '"\'`';
/** 1 for characters that a name without quotes consists of; so do all beyond ASCII. */
const nameCharacters = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  if (/[\w\-.%+[\]$@]/.test(String.fromCharCode(code))) nameCharacters[code] = 1;
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

function isNameCharacter(code: number): boolean {
  return code > 127 || nameCharacters[code] === 1;
}
/** Values that hide nothing. */
const harmless: ReadonlySet<string> = new Set(['null', 'true', 'false', '']);

/** Fields whose value is the name of another one, `{"name": "password", "value": "..."}`, and those of that one. */
const labels: ReadonlySet<string> = new Set(['name', 'key', 'field', 'type']);
const labelled: ReadonlySet<string> = new Set(['value', 'content']);
/** Characters between them. */
const maxDistance = 256;

/**
 * Masks the values of fields whose name is one of a credential, wherever a text has `name: value` or `name=value`: in JSON, also where it
 * is cut off, invalid or within a string; in forms, headers, YAML, GraphQL and queries. Takes linear time. Rather masks too much:
 * a value without quotes ends with its line.
 */
export function maskedFields(text: string, secrets: SecretFields): string {
  let masked = '';
  let keptFrom = 0;
  const mask = ({ start, end, bare }: FoundValue, quotedName: boolean): void => {
    masked += text.slice(keptFrom, start) + (bare && quotedName ? `"${redacted}"` : redacted);
    keptFrom = end;
  };
  /** End of the last label that names a credential, and the last value that a label may follow. */
  let label = -1;
  let open: FoundValue | null = null;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // `:` and `=`
    if (code !== 58 && code !== 61) continue;
    const name = nameBefore(text, at, keptFrom);
    if (name === null) continue;
    const lower = name.text.toLowerCase();
    const isLabelled = labelled.has(lower);
    if (secrets.has(name.text) || (isLabelled && label >= 0 && areTogether(text, label, at))) {
      const value = valueAfter(text, at, name.quoted, code === 61);
      if (harmless.has(text.slice(value.start, value.end))) continue;
      mask(value, name.quoted);
      at = value.end - 1;
    } else if (isLabelled) open = shortValue(text, at);
    else if (labels.has(lower)) {
      const value = shortValue(text, at);
      if (value === null || !secrets.has(text.slice(value.start, value.end))) continue;
      label = value.end;
      if (open === null || open.start < keptFrom || !areTogether(text, open.end, at)) continue;
      mask(open, false);
    }
  }
  return keptFrom === 0 ? text : masked + text.slice(keptFrom);
}

/** Both are in the same object, or tag. */
function areTogether(text: string, from: number, to: number): boolean {
  return to - from <= maxDistance && !/[{}<>]/.test(text.slice(from, to));
}

/** A value in quotes that is as short as a name; null: there is none. */
function shortValue(text: string, separator: number): FoundValue | null {
  const found = /^\s{0,8}\\{0,7}(["'`])([^"'`\\]{1,128})\\{0,7}["'`]/.exec(text.slice(separator + 1, separator + 160));
  if (found === null) return null;
  const [whole, quote = '', value = ''] = found;
  const start = separator + 1 + whole.indexOf(quote) + 1;
  return { start, end: start + value.length, bare: false };
}

interface FoundName {
  readonly text: string;
  readonly quoted: boolean;
}

/** The name whose separator is at `separator`; null: there is none. Looks back not beyond `from`. */
function nameBefore(text: string, separator: number, from: number): FoundName | null {
  let end = separator;
  while (end > from && isBlank(text.charCodeAt(end - 1))) end--;
  if (end === from) return null;
  const last = text[end - 1] as string;
  if (!quotes.includes(last)) {
    const limit = Math.max(from, end - maxNameLength - 1);
    let start = end;
    while (start > limit && isNameCharacter(text.charCodeAt(start - 1))) start--;
    return start === end ? null : { text: text.slice(start, end), quoted: false };
  }
  // JSON within a string has escaped quotes.
  let close = end - 1;
  while (close > from && text[close - 1] === '\\') close--;
  const open = text.lastIndexOf(last, close - 1);
  if (open < from || close - open > maxNameLength) return null;
  return { text: text.slice(open + 1, close), quoted: true };
}

interface FoundValue {
  readonly start: number;
  readonly end: number;
  /** It has no quotes. */
  readonly bare: boolean;
}

function valueAfter(text: string, separator: number, quotedName: boolean, isAssignment: boolean): FoundValue {
  let start = separator + 1;
  while (start < text.length && isBlank(text.charCodeAt(start))) start++;
  // A form has no blanks around its separator, and an empty value ends at once.
  if (isAssignment && (text[start - 1] === '\n' || text[start - 1] === '\r')) {
    return { start: separator + 1, end: separator + 1, bare: false };
  }
  let open = start;
  while (text[open] === '\\') open++;
  const quote = text[open];
  if (quote !== undefined && quotes.includes(quote)) {
    return { start: open + 1, end: closingQuote(text, open + 1, quote, open - start), bare: false };
  }
  if (!isAssignment && (text[start] === '{' || text[start] === '[')) {
    return { start, end: closingBracket(text, start), bare: true };
  }
  return { start, end: bareEnd(text, start, quotedName, isAssignment), bare: true };
}

/** Where the text of a string ends; `depth`: backslashes before its quotes. */
function closingQuote(text: string, from: number, quote: string, depth: number): number {
  let slashes = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') {
      slashes++;
      continue;
    }
    // A quote with more backslashes is one within the string.
    if (char === quote && (depth === 0 ? slashes % 2 === 0 : slashes <= depth)) return at - (depth === 0 ? 0 : slashes);
    slashes = 0;
  }
  return text.length;
}

/** The end of an object or array, strings in it skipped. */
function closingBracket(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"') at = closingQuote(text, at + 1, '"', 0);
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}

const jsonEnd = /[,}\]\s]/g;
const assignedEnd = /[&\r\n"'`<>\\]/g;
/** Within a string of JSON, a text ends with the string. */
const lineEnd = /[\r\n]|["`](?=\s?[,}\]:]|\s?$)/g;
/** A block of YAML, which only its indentation ends. */
const block = /[|>][+\-\d]{0,2}[ \t]*\r?\n/y;

function bareEnd(text: string, from: number, quotedName: boolean, isAssignment: boolean): number {
  block.lastIndex = from;
  if (!isAssignment && block.test(text)) return text.length;
  const pattern = isAssignment ? assignedEnd : quotedName ? jsonEnd : lineEnd;
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

/** A whole form: a value ends at `&` only. `within`: masks a decoded value, which may itself be JSON or a URL. */
export function maskedFormFields(text: string, secrets: SecretFields, within: (value: string) => string): string {
  return text
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      if (equals <= 0 || equals === pair.length - 1) return pair;
      const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
      if (secrets.has(name)) return `${name}=${redacted}`;
      if (!value.includes('%')) return pair;
      const decoded = decodeFormText(value);
      const masked = within(decoded);
      return masked === decoded ? pair : `${name}=${encodeURIComponent(masked)}`;
    })
    .join('&');
}
