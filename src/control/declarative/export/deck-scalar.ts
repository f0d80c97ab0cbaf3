/*
 * A text as decK's writer puts it into YAML (go-yaml 2): double quotes where it would be read as something else, single quotes where its
 * characters mean something, a block for several lines. Long lines are not folded.
 */

/** What is read as null, a boolean, a merge or a number, as far as the whole text decides. */
const word = /^(?:|~|null|true|false|yes|no|on|off|y|n|<<|[-+]?\.inf|\.nan)$/i;
const integer = /^[-+]?(?:0x[\da-f_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*)$/i;
const float = /^[-+]?(?:\.\d[\d_]*|\d[\d_]*(?:\.[\d_]*)?)(?:e[-+]?\d+)?$/i;
/** `1:30:00` was a number once. */
const base60 = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;
const date = /^\d{4}-\d/;

/** At the beginning of a text, or of a part of it, these are not text. */
const indicator = /^(?:[#,[\]{}&*!|>'"%@`]|---|\.\.\.|[-?:](?: |$)| )|:(?: |$)| #| $/;

/** Characters that are written as escapes. */
const special = /[\0-\x08\t\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\u{10000}-\u{10ffff}]|\p{Surrogate}/u;

/** `indent`: of the lines of a text with several; empty where it must be one line. */
export function deckScalar(text: string, indent: string): string {
  if (text.includes('\n')) return indent !== '' && fitsBlock(text) ? block(text, indent) : doubleQuoted(text);
  if (special.test(text) || isOther(text)) return doubleQuoted(text);
  return indicator.test(text) ? `'${text.replaceAll("'", "''")}'` : text;
}

function isOther(text: string): boolean {
  return word.test(text) || integer.test(text) || float.test(text) || base60.test(text) || date.test(text);
}

const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '\x85': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function doubleQuoted(text: string): string {
  const characters = [...text].map((one) => escapes[one] ?? (special.test(one) ? escaped(one) : one));
  return `"${characters.join('')}"`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** A literal block keeps the text: no line that begins or consists of blanks in a way that would be lost. */
function fitsBlock(text: string): boolean {
  return !special.test(text) && !/^[ \n]|(?:^|\n) +(?:\n|$)| $| \n|\n\n$/.test(text);
}

function block(text: string, indent: string): string {
  const ends = text.endsWith('\n');
  const lines = (ends ? text.slice(0, -1) : text).split('\n');
  return `${ends ? '|' : '|-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`;
}
