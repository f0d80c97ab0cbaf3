import type { HeaderBlock } from '../../../plugin-sdk/index.ts';

/* Reads header blocks: latin1 texts of validated lines, each `Name: value` and CRLF. Names are given in lower case. */

/** The values of all lines with this name, in order. */
export function headerValues(headers: HeaderBlock, name: string): string[] {
  const values: string[] = [];
  for (let start = 0; start < headers.length; ) {
    const end = endOfLine(headers, start);
    if (hasName(headers, start, name)) values.push(headers.slice(start + name.length + 1, end).trim());
    start = end + 2;
  }
  return values;
}

/** The value of the first line with this name, or null. */
export function firstHeader(headers: HeaderBlock, name: string): string | null {
  for (let start = 0; start < headers.length; ) {
    const end = endOfLine(headers, start);
    if (hasName(headers, start, name)) return headers.slice(start + name.length + 1, end).trim();
    start = end + 2;
  }
  return null;
}

/** All lines with this name as one list (RFC 9110 5.3), or null if there are none. */
export function headerList(headers: HeaderBlock, name: string): string | null {
  const values = headerValues(headers, name);
  return values.length === 0 ? null : values.join(', ');
}

/** The lines whose lower-case name passes the test. */
export function filterHeaders(headers: HeaderBlock, keep: (name: string) => boolean): HeaderBlock {
  let kept = '';
  for (let start = 0; start < headers.length; ) {
    const end = endOfLine(headers, start) + 2;
    const colon = headers.indexOf(':', start);
    if (keep(headers.slice(start, colon).toLowerCase())) kept += headers.slice(start, end);
    start = end;
  }
  return kept;
}

/** The lower-case names of all lines. */
export function headerNames(headers: HeaderBlock): Set<string> {
  const names = new Set<string>();
  for (let start = 0; start < headers.length; start = endOfLine(headers, start) + 2) {
    names.add(headers.slice(start, headers.indexOf(':', start)).toLowerCase());
  }
  return names;
}

function hasName(headers: string, start: number, name: string): boolean {
  return (
    headers.charCodeAt(start + name.length) === 58 &&
    (headers.charCodeAt(start) | 32) === name.charCodeAt(0) &&
    headers.slice(start, start + name.length).toLowerCase() === name
  );
}

function endOfLine(headers: string, start: number): number {
  const end = headers.indexOf('\r\n', start);
  return end < 0 ? headers.length : end;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const imfFixdate = /^[a-z]{3}, (\d\d) ([a-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) gmt$/i;
const rfc850Date = /^[a-z]{6,9}, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) gmt$/i;
const asctimeDate = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/i;

/** Milliseconds since the epoch of a date in one of the three forms of RFC 9110 5.6.7; null for anything else. */
export function parseHttpDate(text: string, now: number): number | null {
  const imf = imfFixdate.exec(text);
  if (imf !== null) return instant(imf[3], imf[2], imf[1], imf[4], imf[5], imf[6]);
  const old = rfc850Date.exec(text);
  if (old !== null) return instant(String(fullYear(Number(old[3]), now)), old[2], old[1], old[4], old[5], old[6]);
  const ansi = asctimeDate.exec(text);
  if (ansi !== null) return instant(ansi[6], ansi[1], ansi[2], ansi[3], ansi[4], ansi[5]);
  return null;
}

type Part = string | undefined;

function instant(year: Part, month: Part, day: Part, hour: Part, minute: Part, second: Part): number | null {
  const at = months.indexOf((month ?? '').toLowerCase());
  const [d, h, m, s] = [Number(day), Number(hour), Number(minute), Number(second)] as const;
  if (at < 0 || d < 1 || d > 31 || h > 23 || m > 59 || s > 60) return null;
  return Date.UTC(Number(year), at, d, h, m, s);
}

/** A two-digit year that appears to be more than 50 years in the future is in the past (RFC 9110 5.6.7). */
function fullYear(digits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = Math.floor(thisYear / 100) * 100 + digits;
  return year > thisYear + 50 ? year - 100 : year;
}
