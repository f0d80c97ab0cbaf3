/**
 * A spreadsheet takes a cell that begins so for a formula, which could run programs of whoever opens the file. Where a comma is the
 * decimal point cells end at semicolons, whatever the quotes.
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
