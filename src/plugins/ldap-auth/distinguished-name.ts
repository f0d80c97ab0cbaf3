/**
 * Escapes a text as the value of an attribute in a distinguished name (RFC 4514, 2.4): all characters that could end the
 * value, begin another part of the name or be trimmed, so that a user name cannot change the structure of the name.
 */
export function escapeDnValue(text: string): string {
  return text.replace(special, hexOctet);
}

/** Control characters, special characters, and spaces or `#` in special positions. */
const special = /[\x00-\x1f\x7f"+,;<=>\\]|^[ #]| $/g;

function hexOctet(char: string): string {
  return `\\${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
