import { bounded, isTrue, TemplateFailure, textOf, utf8FromLatin1, type Value } from './values.ts';

export interface TemplateFunction {
  /** Minimum and maximum number of arguments. */
  readonly args: readonly [number, number];
  run(args: readonly Value[]): Value;
}

/** `path` keeps the slashes of a value where a path is made; elsewhere it is the text itself. */
export const functions: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['lower', ofText((text) => text.toLowerCase())],
  ['upper', ofText((text) => text.toUpperCase())],
  ['trim', ofText((text) => text.trim())],
  ['urlencode', ofText((text) => encodeURIComponent(text.toWellFormed()))],
  ['urldecode', ofText(urldecode)],
  ['base64', ofText((text) => Buffer.from(text).toString('base64'))],
  ['base64decode', ofText((text) => Buffer.from(text, 'base64').toString('utf8'))],
  ['path', ofText((text) => text)],
  ['len', { args: [1, 1], run: ([value = null]) => (value === null ? 0 : textOf(value).length) }],
  ['sub', { args: [2, 3], run: sub }],
  ['replace', { args: [3, 3], run: replace }],
  ['default', { args: [2, 8], run: (args) => args.find((value) => isTrue(value) && value !== '') ?? null }],
  ['tostring', { args: [1, 1], run: ([value = null]) => textOf(value) }],
  ['tonumber', { args: [1, 1], run: ([value = null]) => tonumber(value) }],
]);

/** Absent arguments give an absent result, so that `or` can follow. */
function ofText(change: (text: string) => string): TemplateFunction {
  return { args: [1, 1], run: ([value = null]) => (value === null ? null : bounded(change(textOf(value)))) };
}

function urldecode(text: string): string {
  const bytes = Buffer.from(text.replaceAll('+', ' ')).toString('latin1');
  return utf8FromLatin1(
    bytes.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16))),
  );
}

/** From the first to the last character, both included; positions count from 1, negative ones from the end. */
function sub([value = null, first = 1, last = -1]: readonly Value[]): Value {
  if (value === null) return null;
  const text = textOf(value);
  const start = place(first, text.length);
  return text.slice(Math.max(0, start - 1), Math.max(0, place(last, text.length)));
}

function place(value: Value, length: number): number {
  if (typeof value !== 'number') throw new TemplateFailure('sub() counts with numbers');
  return value < 0 ? length + value + 1 : value;
}

/** Replaces every occurrence of a text; not a pattern. */
function replace([value = null, what = null, by = null]: readonly Value[]): Value {
  if (value === null) return null;
  const text = textOf(value);
  const found = textOf(what);
  if (found === '') return text;
  const pieces = text.split(found);
  const piece = textOf(by);
  if (text.length + (pieces.length - 1) * (piece.length - found.length) > 1_000_000) bounded(' '.repeat(1_000_000));
  return bounded(pieces.join(piece));
}

function tonumber(value: Value): Value {
  if (typeof value === 'number') return value;
  const text = typeof value === 'string' ? value.trim() : '';
  const number = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}
