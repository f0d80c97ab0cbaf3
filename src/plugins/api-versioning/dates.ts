const form = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z)?$/;

/** Milliseconds since the epoch of `2026-01-31` or `2026-01-31T12:00:00Z`; null for anything else, and for days that do not exist. */
export function timeOf(text: string): number | null {
  if (!form.test(text)) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) return null;
  // `Date.parse` reads February 30 as March 2.
  return new Date(time).toISOString().startsWith(text.slice(0, 10)) ? time : null;
}

/** As in `Sunset` (RFC 8594) and `Date`. */
export function httpDate(time: number): string {
  return new Date(time).toUTCString();
}

/** As in `Deprecation` (RFC 9745): a date of RFC 9651. */
export function structuredDate(time: number): string {
  return `@${Math.floor(time / 1000)}`;
}
