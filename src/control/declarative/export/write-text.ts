import { deckScalar } from './deck-scalar.ts';
import { yamlScalar } from './yaml-scalar.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Quotes around texts that would be something else without them: single ones, or what decK writes. */
export type QuoteStyle = 'single' | 'deck';

export function jsonText(content: Fields): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

/**
 * YAML in block style, lists without indentation. Written here because it is ten times as fast as the library, which has to choose among all
 * styles: a config of 100,000 services has 100 MB.
 */
export function yamlText(content: Fields, quoteStyle: QuoteStyle): string {
  const pieces: string[] = [];
  writeFields(content, '', '', quoteStyle, pieces);
  return pieces.join('');
}

/** `first`: what precedes the first key on its line, such as `- `. */
function writeFields(fields: Fields, indent: string, first: string, style: QuoteStyle, pieces: string[]): void {
  let lead = first;
  for (const key of Object.keys(fields)) {
    pieces.push(lead === '' ? indent : lead, scalar(key, '', style), ':');
    writeValue(fields[key], indent, style, pieces);
    lead = '';
  }
}

/** After a key and its colon. */
function writeValue(value: unknown, indent: string, style: QuoteStyle, pieces: string[]): void {
  if (Array.isArray(value) && value.length > 0) {
    pieces.push('\n');
    for (const item of value) writeItem(item, indent, `${indent}- `, style, pieces);
  } else if (isFields(value) && Object.keys(value).length > 0) {
    pieces.push('\n');
    writeFields(value, `${indent}  `, '', style, pieces);
  } else pieces.push(' ', flatText(value, `${indent}  `, style), '\n');
}

function writeItem(item: unknown, indent: string, first: string, style: QuoteStyle, pieces: string[]): void {
  const inner = `${indent}  `;
  if (isFields(item) && Object.keys(item).length > 0) writeFields(item, inner, first, style, pieces);
  else if (Array.isArray(item) && item.length > 0) {
    let lead = first;
    for (const one of item) {
      writeItem(one, inner, `${lead}- `, style, pieces);
      lead = inner;
    }
  } else pieces.push(first, flatText(item, inner, style), '\n');
}

function scalar(text: string, indent: string, style: QuoteStyle): string {
  return style === 'deck' ? deckScalar(text, indent) : yamlScalar(text, indent);
}

function flatText(value: unknown, indent: string, style: QuoteStyle): string {
  if (typeof value === 'string') return scalar(value, indent, style);
  if (Array.isArray(value)) return '[]';
  if (isFields(value)) return '{}';
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'null';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
