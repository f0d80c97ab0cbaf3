/**
 * Characters that change how others look, or that cannot be seen: controls, marks of writing direction, spaces other than the usual
 * one, fillers, lone surrogates, characters without a meaning.
 */
const invisible = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[ ]]/gv;
/** A pile of marks on one letter covers the lines above and below. */
const marks = /\p{M}{3,}/gu;

/** Text of a client or a backend, so that nothing in it is invisible or misleads: such characters appear as `\u{202e}`. */
export function visibleText(text: string): string {
  const shown = text.replace(invisible, escaped);
  return shown.replace(marks, (pile) => [...pile].map(escaped).join(''));
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** The beginning of a text, never half a character. */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
