import { DocumentError } from '../contract.ts';
import { maxDepth } from './limits.ts';
import { positionAt } from './text-lines.ts';

const quote = 0x22;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The value of a JSON text; undefined when it is not JSON. Throws a `DocumentError` where parsers differ: an object with the same key
 * twice. `__proto__` is refused because some programs take it for more than a name.
 */
export function readJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  refuseAmbiguous(text);
  return value;
}

/** Expects valid JSON. */
function refuseAmbiguous(text: string): void {
  /** The keys of the open objects; null for a list. */
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(text, at);
      const keys = open.at(-1);
      if (keys != null && isKey(text, end)) addKey(text, keys, at, end);
      at = end - 1;
    } else if (code === openBrace || code === openBracket) {
      if (open.length === maxDepth) throw new DocumentError(`more than ${maxDepth} levels`, positionAt(text, at));
      open.push(code === openBrace ? new Set() : null);
    } else if (code === closeBrace || code === closeBracket) open.pop();
  }
}

function addKey(text: string, keys: Set<string>, start: number, end: number): void {
  const raw = text.slice(start + 1, end - 1);
  const key = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
  if (keys.has(key)) throw new DocumentError(`the key ${JSON.stringify(key)} occurs twice`, positionAt(text, start));
  if (key === '__proto__') throw new DocumentError("the key '__proto__' is not allowed", positionAt(text, start));
  keys.add(key);
}

/** Whether a colon follows the string that ends here. */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === colon;
}

/** The offset after the string that begins at `start`. */
export function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const code = text.charCodeAt(at);
    if (code === backslash) at++;
    else if (code === quote || Number.isNaN(code)) return at + 1;
  }
}
