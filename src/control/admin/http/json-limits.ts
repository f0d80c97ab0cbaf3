/** Values of one body: members of objects and elements of lists, at every level. Each costs some microseconds to validate. */
export const maxValues = 10_000;
/** Deeper than any schema, and far from exhausting the stack. */
export const maxDepth = 64;
/** Strings below this length count towards `maxShortText`. Longer ones are documents, which no format is matched against. */
const shortText = 65_536;
/** Total bytes of all short strings in a body: names, paths, expressions. */
export const maxShortText = 262_144;

export type JsonExcess = 'values' | 'depth' | 'text';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Counts the values of a JSON text without parsing it: the parser and the validation after it run on the thread that also
 * answers lookups, so their work must be bounded before it starts. The text may come in pieces, and need not be valid.
 */
export class JsonLimits {
  #values = 0;
  #depth = 0;
  #text = 0;
  #length = 0;
  #inString = false;
  #escaped = false;

  /** The first limit that the text exceeds, or null. */
  scan(bytes: Uint8Array): JsonExcess | null {
    let values = this.#values;
    let depth = this.#depth;
    let text = this.#text;
    let length = this.#length;
    let inString = this.#inString;
    let escaped = this.#escaped;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) {
          inString = false;
          if (length < shortText) text += length;
          if (text > maxShortText) return 'text';
        }
        length++;
      } else if (byte === quote) {
        inString = true;
        length = 0;
      } else if (byte === comma) {
        if (++values > maxValues) return 'values';
      } else if (byte === openBracket || byte === openBrace) {
        if (++depth > maxDepth) return 'depth';
        if (++values > maxValues) return 'values';
      } else if (byte === closeBracket || byte === closeBrace) depth--;
    }
    this.#values = values;
    this.#depth = depth;
    this.#text = text;
    this.#length = length;
    this.#inString = inString;
    this.#escaped = escaped;
    return null;
  }
}
