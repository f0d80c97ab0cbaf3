/**
 * The position of a syntax error in JSON text: `line 1, column 22: unexpected "}"`. `error` is what `JSON.parse` threw.
 * Null when it has no position.
 */
export function jsonPosition(text: string, error: unknown): string | null {
  if (text.trim() === '') return 'the body is empty';
  const offset = offsetOf(text, error instanceof Error ? error.message : '');
  if (offset === null) return null;
  const before = text.slice(0, offset);
  const column = offset - before.lastIndexOf('\n');
  const character = text.codePointAt(offset);
  const found = character === undefined ? 'end of the text' : JSON.stringify(String.fromCodePoint(character));
  return `line ${newlines(before) + 1}, column ${column}: unexpected ${found}`;
}

/** Counted, not split: the text may have millions of lines. */
function newlines(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === 10) count++;
  return count;
}

/** V8 gives a position for some errors; for an unexpected token it quotes the text from 10 characters before it. */
function offsetOf(text: string, message: string): number | null {
  const position = / at position (\d+)/.exec(message);
  if (position !== null) return Number(position[1]);
  if (message.startsWith('Unexpected end')) return text.length;
  const quoted = /^Unexpected token .*?, \.\.\."(.*?)"(?:\.\.\.)? is not valid JSON$/s.exec(message)?.[1];
  if (quoted === undefined) return faultNearBegin(text);
  const at = text.indexOf(quoted);
  return at < 0 ? null : at + charactersBefore;
}

const charactersBefore = 10;
/** V8 quotes texts up to this length whole. */
const maxWhole = 50;

/** The first character after which the text is not a prefix of valid JSON. */
function faultNearBegin(text: string): number | null {
  for (let length = 1; length <= Math.min(text.length, maxWhole); length++) {
    if (faultOf(text.slice(0, length))?.startsWith('Unexpected token') === true) return length - 1;
  }
  return null;
}

function faultOf(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : null;
  }
}
