/**
 * A spreadsheet treats a cell that begins with one of these as a formula, which could run programs on the reader's computer. Where the
 * comma is the decimal separator, cells end at semicolons, even inside quotes.
 */
const formula = /^(?=[=+\-@＝＋－＠\t\r\n])|(?<=[;\t])(?=[ "]*[=+\-@＝＋－＠])/g;
const needsQuotes = /[",\r\n]|^\s|\s$/;

/** A line of RFC 4180, with its end. A text that would be a formula begins with an apostrophe. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const harmless = value.replace(formula, "'");
  return needsQuotes.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
