import type { Outline, Place } from './outline.ts';
import { stringEnd } from './read-json.ts';

const openBracket = 0x5b;
const openBrace = 0x7b;
const quote = 0x22;

/** The outline of valid JSON. A node is the offset of its value. */
export function jsonOutline(text: string): Outline {
  const start = skipBlank(text, 0);
  return { root: { node: start, start }, children: (node) => childrenAt(text, node) };
}

function childrenAt(text: string, node: number): ReadonlyMap<string | number, Place> | null {
  const code = text.charCodeAt(node);
  if (code !== openBrace && code !== openBracket) return null;
  const children = new Map<string | number, Place>();
  for (let at = skipBlank(text, node + 1), index = 0; !isClosing(text.charCodeAt(at)); index++) {
    const start = at;
    let key: string | number = index;
    if (code === openBrace) {
      const end = stringEnd(text, at);
      key = String(JSON.parse(text.slice(at, end)));
      at = skipBlank(text, skipBlank(text, end) + 1);
    }
    children.set(key, { node: at, start });
    at = skipBlank(text, valueEnd(text, at));
    if (text[at] === ',') at = skipBlank(text, at + 1);
    if (at >= text.length) break;
  }
  return children;
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (code === openBrace || code === openBracket) depth++;
    else if (isClosing(code)) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (code === 0x2c || code <= 0x20)) return at;
  }
  return text.length;
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d || Number.isNaN(code);
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}
