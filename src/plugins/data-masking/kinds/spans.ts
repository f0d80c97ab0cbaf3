/** A part of a text, in UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds the parts of a text that are of one kind, in order, without overlaps, in linear time. */
export type Finder = (text: string) => readonly Span[];

export const noSpans: readonly Span[] = Object.freeze([]);

/** The matches of an expression with the flag `g` that `accepts` confirms. */
export function matches(
  text: string,
  pattern: RegExp,
  accepts: (match: string, at: number) => boolean,
): readonly Span[] {
  const spans: Span[] = [];
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [whole] = found;
    if (whole === '') pattern.lastIndex++;
    else if (accepts(whole, found.index)) spans.push({ start: found.index, end: found.index + whole.length });
  }
  return spans;
}

/** Replaces parts of the text; the same text if there are none. */
export function replaceSpans(text: string, spans: readonly Span[], change: (part: string) => string): string {
  if (spans.length === 0) return text;
  let result = '';
  let kept = 0;
  for (const { start, end } of spans) {
    result += text.slice(kept, start) + change(text.slice(start, end));
    kept = end;
  }
  return result + text.slice(kept);
}
