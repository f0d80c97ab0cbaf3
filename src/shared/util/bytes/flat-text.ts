import { latin1 } from './latin1.ts';

const beyondLatin1 = /[^\x00-\xff]/;

/**
 * The same string in one piece. V8 keeps a string that was joined of others as a tree, and walks it again for every longer string
 * that contains it. For what is kept and becomes part of many messages or lines.
 */
export function flatText(text: string): string {
  // The search has put the text together.
  if (beyondLatin1.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return latin1(bytes, 0, bytes.byteLength);
}

/** Header lines of one name whose value is a whole number. Those of small numbers are made once. */
export class NumberedLines {
  readonly #name: string;
  readonly #lines: string[];

  /** `limit`: lines of numbers below it are kept. */
  constructor(name: string, limit: number) {
    this.#name = name;
    this.#lines = Array.from({ length: limit }, () => '');
  }

  line(value: number): string {
    const lines = this.#lines;
    if (!(value >= 0 && value < lines.length)) return `${this.#name}: ${value}\r\n`;
    const known = lines[value]!;
    if (known !== '') return known;
    const line = flatText(`${this.#name}: ${value}\r\n`);
    lines[value] = line;
    return line;
  }
}
