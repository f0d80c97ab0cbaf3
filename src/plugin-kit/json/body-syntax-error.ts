/** A position in a text. Both count from 1; columns are UTF-16 code units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A body that is not of its declared type. The message never shows content of the body. */
export class BodySyntaxError extends Error {
  readonly format: string;
  /** `line 3, column 14`; '' when it is about the body as a whole. */
  readonly where: string;

  constructor(format: string, reason: string, position: TextPosition | null) {
    const where = position === null ? '' : `line ${position.line}, column ${position.column}`;
    super(`the body is not valid ${format}: ${reason}${where === '' ? '' : ` (${where})`}`);
    this.name = 'BodySyntaxError';
    this.format = format;
    this.where = where;
  }
}

export function positionIn(text: string, offset: number): TextPosition {
  let line = 1;
  let start = 0;
  for (let next = text.indexOf('\n'); next >= 0 && next < offset; next = text.indexOf('\n', start)) {
    line++;
    start = next + 1;
  }
  return { line, column: Math.max(0, offset - start) + 1 };
}
