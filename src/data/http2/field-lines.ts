import { keepTrailers } from '../http1/chunk-decoder.ts';
import { fieldLines, token } from '../http1/grammar.ts';

const maxTrailerBytes = 8192;

/**
 * Fields of a HEADERS frame (alternating names and values) from `start` on, as lines that end with CRLF. Null when a
 * name or value could be parsed as more than one field, or when a pseudo-header field is among them.
 */
export function writeFieldLines(fields: readonly string[], start: number): string | null {
  let text = '';
  let count = 0;
  for (let at = start; at < fields.length; at += 2) {
    const name = fields[at] as string;
    if (!token.test(name)) return null;
    text += `${name}: ${fields[at + 1]}\r\n`;
    count++;
  }
  const whole = `${text}\r\n`;
  fieldLines.lastIndex = 0;
  if (!fieldLines.test(whole) || fieldLines.lastIndex !== whole.length) return null;
  return lineCount(text) === count ? text : null;
}

/** The fields of a trailer section, without those that are not allowed there; null when it is malformed or too long. */
export function writeTrailerLines(fields: readonly string[]): string | null {
  const text = writeFieldLines(fields, 0);
  return text === null || text.length > maxTrailerBytes ? null : keepTrailers(text);
}

function lineCount(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
