/**
 * A text as the value of an attribute in a distinguished name (RFC 4514, 2.4). Whatever could end the value, begin another
 * part of the name or be dropped at an end is escaped, so that a user name cannot reach beyond its place.
 */
export function escapeDnValue(text: string): string {
  return text.replace(special, hexOctet);
}

/** Control characters, what has a meaning in a name, and spaces or `#` where they would have one. */
const special = /[\x00-\x1f\x7f"+,;<=>\\]|^[ #]| $/g;

function hexOctet(char: string): string {
  return `\\${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
