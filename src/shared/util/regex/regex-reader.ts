/** A cursor over the source text of a regular expression. */
export class RegexReader {
  readonly source: string;
  position = 0;

  constructor(source: string) {
    this.source = source;
  }

  get done(): boolean {
    return this.position >= this.source.length;
  }

  /** The character at the cursor, '' at the end. */
  peek(): string {
    return this.source.charAt(this.position);
  }

  /** Consumes the text when it is next. */
  take(text: string): boolean {
    if (!this.source.startsWith(text, this.position)) return false;
    this.position += text.length;
    return true;
  }

  /** Consumes what the sticky expression matches at the cursor. */
  takeMatch(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.position;
    const match = sticky.exec(this.source);
    if (match !== null) this.position = sticky.lastIndex;
    return match;
  }

  /** Consumes one code point. */
  next(): number {
    const code = this.source.codePointAt(this.position);
    if (code === undefined) throw this.error('unexpected end');
    this.position += code > 0xffff ? 2 : 1;
    return code;
  }

  error(problem: string): Error {
    return new Error(`${problem} at position ${this.position}`);
  }
}
