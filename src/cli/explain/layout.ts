/** How a piece of text looks on a terminal with colours. */
export type Look = 'plain' | 'strong' | 'dim' | 'good' | 'bad' | 'warning';

const codes: Readonly<Record<Exclude<Look, 'plain'>, number>> = { strong: 1, dim: 2, good: 32, bad: 31, warning: 33 };

/** A piece of text and how it looks. */
export interface Piece {
  readonly text: string;
  readonly look: Look;
}

export function piece(text: string, look: Look = 'plain'): Piece {
  return { text, look };
}

/** Pieces of text in columns; the last one has any length. */
export type Row = readonly Piece[];

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Maximum width of a column in characters. */
const maxWidth = 44;
const titleWidth = 12;

/** Lines of all sections: titles on the left, rows in columns to the right. */
export function linesOf(sections: readonly Section[], colours: boolean): readonly string[] {
  return sections
    .filter(({ rows }) => rows.length > 0)
    .flatMap(({ title, rows }) => {
      const widths = widthsOf(rows);
      return rows.map((row, at) => {
        const left = painted(piece((at === 0 ? title : '').padEnd(titleWidth), 'strong'), colours);
        return (left + rowText(row, widths, colours)).trimEnd();
      });
    });
}

function widthsOf(rows: readonly Row[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, { text }] of row.slice(0, -1).entries()) {
      if (text.length <= maxWidth) widths[at] = Math.max(widths[at] ?? 0, text.length);
    }
  }
  return widths;
}

function rowText(row: Row, widths: readonly number[], colours: boolean): string {
  return row
    .map((one, at) => {
      const last = at === row.length - 1;
      return painted(last ? one : { ...one, text: one.text.padEnd(widths[at] ?? 0) }, colours);
    })
    .join('  ');
}

export function painted({ text, look }: Piece, colours: boolean): string {
  const safe = printable(text);
  return look === 'plain' || !colours || safe.trim() === '' ? safe : `\x1b[${codes[look]}m${safe}\x1b[0m`;
}

/** Characters that control a terminal or change the direction of text. */
const controlCharacters = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text from a client or a backend must not control the terminal. */
function printable(text: string): string {
  return text.replace(controlCharacters, '\u{fffd}');
}

/** JSON for people and programs; also escapes control characters that JSON itself allows. */
export function printableJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(controlCharacters, (char) =>
    char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
