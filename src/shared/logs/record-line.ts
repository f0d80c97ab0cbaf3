import { flatText } from '../util/bytes/flat-text.ts';
import { utf8FromLatin1 } from '../util/bytes/latin1.ts';

/*
 * Log records as lines of JSON. JSON escapes line feeds, so no input of a client can start a second line; characters that only
 * some readers treat as an end of line are escaped as well.
 */

type Fields = Readonly<Record<string, unknown>>;

/**
 * A record as one line of JSON, without an end of line. Route and service come last: they are most of a record, and the
 * same objects in all records of a row, so their texts are cached. Throws for a value that JSON cannot represent.
 */
export function recordLine(record: Fields): string {
  const { route, service, ...rest } = record;
  const text = oneLine(JSON.stringify(rest));
  const rows = memberText('route', route) + memberText('service', service);
  if (rows === '') return text;
  return text === '{}' ? `{${rows.slice(1)}}` : `${text.slice(0, -1)}${rows}}`;
}

/** Escapes NEL and the two line separators of Unicode in JSON. */
export function oneLine(json: string): string {
  // Three searches for one character each cost a tenth of one by an expression.
  const isHarmless = !json.includes('\x85') && !json.includes('\u2028') && !json.includes('\u2029');
  return isHarmless ? json : json.replace(/[\x85\u2028\u2029]/g, escaped);
}

/** Characters that JSON escapes, or `oneLine`; with more of them, because few values have any. */
const unusual = /["\\\x00-\x1f\x80-\uffff]/;

/** The text as it stands within the quotes of a JSON string. */
export function jsonBody(text: string): string {
  return unusual.test(text) ? oneLine(JSON.stringify(text)).slice(1, -1) : text;
}

/** The same for a text of one character for each byte: UTF-8, as far as it is valid. */
export function jsonOfLatin1(bytes: string): string {
  return unusual.test(bytes) ? jsonBody(utf8FromLatin1(bytes)) : bytes;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const rowTexts = new WeakMap<object, string>();

/** `,"name":value`; '' for a value that JSON leaves out. Texts of frozen objects are cached, each under one name. */
export function memberText(name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? '' : `,"${name}":${oneLine(text)}`;
  }
  let text = rowTexts.get(value);
  if (text === undefined) {
    text = flatText(`,"${name}":${oneLine(JSON.stringify(value))}`);
    rowTexts.set(value, text);
  }
  return text;
}
