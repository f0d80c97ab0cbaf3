import { JsonPathError } from './json-path-types.ts';

/** A step of the spelling that configurations had before RFC 9535; null is `[*]`. */
type Step = string | number | null;

const maxSteps = 64;
const token = /\.?([^.[\]'"\s$][^.[\]'"\s]*)|\[(\*|-?\d{1,9})\]|\['([^']*)'\]|\["([^"]*)"\]/y;

/**
 * The old spelling of a path in RFC 9535: `items[*].first-name` is `$.items[*]['first-name']`. The old spelling has names joined by dots,
 * `['any name']` or `["any name"]` without escapes, `[0]`, `[-1]` and `[*]`; `$` or `$.` may stand in front. Throws a `JsonPathError`.
 */
export function translatedPath(old: string): string {
  return `$${stepsOf(old).map(segmentOf).join('')}`;
}

/** The path in RFC 9535 to the member that these names lead to. */
export function memberPath(names: readonly string[]): string {
  return `$${names.map(segmentOf).join('')}`;
}

function stepsOf(text: string): readonly Step[] {
  const steps: Step[] = [];
  let at = text.startsWith('$') ? 1 : 0;
  while (at < text.length) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (found === null || (steps.length === 0 && at === 0 && text.startsWith('.'))) throw malformed(text, at);
    const [whole, name, index, single, double] = found;
    if (name !== undefined && at > 0 && !whole.startsWith('.')) throw malformed(text, at);
    if (index !== undefined) steps.push(index === '*' ? null : Number(index));
    else steps.push((name ?? single ?? double) as string);
    at += whole.length;
  }
  if (steps.length === 0) throw new JsonPathError('a path must name something');
  if (steps.length > maxSteps) throw new JsonPathError(`a path has ${maxSteps} steps at most`);
  return steps;
}

function malformed(text: string, at: number): JsonPathError {
  return new JsonPathError(`'${text}' is not a path: character ${at + 1} is not expected`);
}

/** RFC 9535 2.5.1.1: what a name needs no quotation marks for. */
const shorthand = /^[A-Za-z_\u0080-\ud7ff\ue000-\u{10ffff}][A-Za-z0-9_\u0080-\ud7ff\ue000-\u{10ffff}]*$/u;

function segmentOf(step: Step): string {
  if (step === null) return '[*]';
  // Minus zero is no index in RFC 9535; the template makes `0` of it.
  if (typeof step === 'number') return `[${step}]`;
  return shorthand.test(step) ? `.${step}` : `[${quoted(step)}]`;
}

const escapes: Readonly<Record<string, string>> = {
  "'": "\\'",
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function quoted(name: string): string {
  const text = name.replace(/['\\\0-\x1f]/g, (char) => escapes[char] ?? `\\u${hex(char)}`);
  return `'${text}'`;
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, '0');
}
