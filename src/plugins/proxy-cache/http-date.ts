const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const fixdate = /^[a-z]{3}, (\d\d) ([a-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) gmt$/i;
const rfc850 = /^[a-z]{6,9}, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) gmt$/i;
const asctime = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/i;

/** Milliseconds since the epoch of a date in one of the three forms of RFC 9110 5.6.7; null for anything else. */
export function parseHttpDate(text: string, now: number): number | null {
  const usual = fixdate.exec(text);
  if (usual !== null) return instant(usual[3], usual[2], usual[1], usual[4], usual[5], usual[6]);
  const old = rfc850.exec(text);
  if (old !== null) return instant(String(fullYear(Number(old[3]), now)), old[2], old[1], old[4], old[5], old[6]);
  const ansi = asctime.exec(text);
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

/** A year of two digits that would be more than 50 years ahead is one of the century before (RFC 9110 5.6.7). */
function fullYear(digits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = Math.floor(thisYear / 100) * 100 + digits;
  return year > thisYear + 50 ? year - 100 : year;
}
