import { isJsonObject, type JsonValue } from './json.ts';

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/**
 * True when an object of this body has a repeated name (RFC 8259 4): a parser that takes the first one reads another document than
 * `root`, the parsed body. The body is one that `parseJson` has accepted.
 */
export function hasRepeatedNames(body: Uint8Array, root: JsonValue): boolean {
  return namesIn(body) !== membersOf(root);
}

/** Colons outside of strings: there is one after each name. */
function namesIn(body: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === colon) count++;
    else if (byte === quote) for (at++; body[at] !== quote; at++) if (body[at] === backslash) at++;
  }
  return count;
}

function membersOf(value: JsonValue): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'object') count += membersOf(element);
  } else if (isJsonObject(value)) {
    for (const name in value) {
      count++;
      const member = value[name] as JsonValue;
      if (typeof member === 'object') count += membersOf(member);
    }
  }
  return count;
}
