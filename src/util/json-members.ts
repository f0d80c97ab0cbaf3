/** A member of a JSON object, by offsets into its text. */
export interface JsonMember {
  /** The quoted name. */
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

const quote = 34;
const backslash = 92;

/**
 * The members of the object that `text` is, duplicates included. The text is one that `JSON.parse` has accepted; it may be
 * its bytes as latin1. Null when it is no object.
 */
export function jsonMembers(text: string): readonly JsonMember[] | null {
  let at = skipBlank(text, 0);
  if (text[at] !== '{') return null;
  const members: JsonMember[] = [];
  at = skipBlank(text, at + 1);
  while (text[at] !== '}') {
    const nameStart = at;
    const nameEnd = stringEnd(text, at);
    const valueStart = skipBlank(text, skipBlank(text, nameEnd) + 1);
    const valueEnd = skipValue(text, valueStart);
    members.push({ nameStart, nameEnd, valueStart, valueEnd });
    at = skipBlank(text, valueEnd);
    if (text[at] !== ',') break;
    at = skipBlank(text, at + 1);
  }
  return members;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

/** The offset after the string that begins at `from`. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === backslash) at++;
    else if (code === quote) return at + 1;
  }
  return text.length;
}

/** The offset after the value that begins at `from`, however deep it is. */
function skipValue(text: string, from: number): number {
  if (text.charCodeAt(from) === quote) return stringEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"') at = stringEnd(text, at) - 1;
    else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (char === ',' || isBlank(char.charCodeAt(0)))) return at;
  }
  return text.length;
}
