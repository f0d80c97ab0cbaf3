/**
 * Escapes values for a log line: latin1 strings of one character for each byte, as heads are. Whatever the bytes, the
 * result is printable ASCII, so that nothing can end the line or, where the format quotes it, the field.
 */

const unsafe = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;
const allUnsafe = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/** As nginx: quotes, backslashes and everything outside of printable ASCII become `\xXX`. */
export function quoted(text: string): string {
  return unsafe.test(text) ? text.replace(allUnsafe, hex) : text;
}

/** The same for a field outside of quotes: a space in it would shift the fields after it. */
export function bare(text: string): string {
  return quoted(text).replaceAll(' ', '\\x20');
}

/** Within the quotes of a JSON string. Bytes are decoded as UTF-8; invalid ones become U+FFFD. */
export function jsonQuoted(text: string): string {
  if (!unsafe.test(text)) return text;
  const json = JSON.stringify(Buffer.from(text, 'latin1').toString());
  return json.slice(1, -1).replace(/[\x7f-\uffff]/g, unicode);
}

const control = /[^\x20-\x7e\x80-\xff]/;
const allControls = /[^\x20-\x7e\x80-\xff]/g;

/** Unchanged except for control characters, which could forge a line. */
export function unquoted(text: string): string {
  return control.test(text) ? text.replace(allControls, hex) : text;
}

function hex(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function unicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
