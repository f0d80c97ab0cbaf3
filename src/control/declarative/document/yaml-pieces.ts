/*
 * A long YAML text in pieces that can be read one after another: reading the whole at once needs thirty times the memory of the text.
 * A piece is the value of a key of the root, or some elements of the list that is that value. A line that begins an element cannot be inside of
 * another value: YAML 1.2 (6.1, 7.4, 8.1) wants the lines of a value to be indented deeper than what contains it.
 */

/** A part of the text, from offset to offset. */
export interface YamlPiece {
  /** Key of the root. */
  readonly key: string;
  /** Offset of the line with the key. */
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
  /** Some elements of the list under the key; null: the line of the key and its value. */
  readonly elements: { readonly first: number; readonly count: number } | null;
}

const smallText = 524_288;
const pieceSize = 131_072;
const keyLine = /([A-Za-z_][\w-]*):[ \t]*(#[^\n]*)?(?=\r?\n|$)/y;
const keyStart = /([A-Za-z_][\w-]*):(?=\s|$)/y;

/** Null: it is short, or has a form whose parts depend on each other. */
export function piecesOf(text: string): readonly YamlPiece[] | null {
  if (text.length < smallText || text.startsWith('%') || text.includes('<<')) return null;
  const begin = /^---[ \t]*\r?\n/.exec(text)?.[0].length ?? 0;
  const pieces: YamlPiece[] = [];
  let section: Section | null = null;
  for (let at = begin; at < text.length; at = nextLine(text, at)) {
    const indent = indentOf(text, at);
    const first = text[at + indent];
    if (first === undefined || first === '\n' || first === '\r' || first === '#') continue;
    if (indent === 0 && first !== '-') {
      const name = match(keyStart, text, at);
      if (name === null) return null;
      if (section !== null) pieces.push(...section.close(at));
      section = createSection(text, name, at);
    } else if (section === null || !section.line(at, indent)) return null;
  }
  if (section !== null) pieces.push(...section.close(text.length));
  const keys = pieces.filter(({ elements }) => elements === null || elements.first === 0).map(({ key }) => key);
  return new Set(keys).size === keys.length ? pieces : null;
}

interface Section {
  /** A line of the value that is neither empty nor a comment. False: it cannot be in pieces. */
  line(start: number, indent: number): boolean;
  close(end: number): readonly YamlPiece[];
}

function createSection(text: string, key: string, keyStart: number): Section {
  const pieces: YamlPiece[] = [];
  const mayBeList = match(keyLine, text, keyStart) !== null;
  /** Indentation of the elements; null: not known yet; -1: not a list. */
  let elementIndent: number | null = mayBeList ? null : -1;
  let start = keyStart;
  let first = 0;
  let count = 0;

  return {
    line(at, indent) {
      const isElement = text[at + indent] === '-' && /\s/.test(text[at + indent + 1] ?? '\n');
      if (elementIndent === null) {
        elementIndent = isElement ? indent : -1;
        if (isElement) start = at;
      }
      // An element at the left margin where there is no list, or a document marker.
      if (elementIndent === -1) return indent > 0;
      if (indent < elementIndent || (indent === elementIndent && !isElement)) return false;
      if (indent > elementIndent) return true;
      if (at - start >= pieceSize) {
        pieces.push({ key, keyStart, start, end: at, elements: { first, count } });
        start = at;
        first += count;
        count = 0;
      }
      count++;
      return true;
    },
    close(end) {
      const elements = elementIndent === null || elementIndent === -1 ? null : { first, count };
      return [...pieces, { key, keyStart, start: elements === null ? keyStart : start, end, elements }];
    },
  };
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

function indentOf(text: string, at: number): number {
  let indent = 0;
  while (text.charCodeAt(at + indent) === 0x20) indent++;
  return indent;
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[1] ?? null;
}
