const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const time = '([01]\\d|2[0-3]):([0-5]\\d):([0-5]\\d|60)';
const usual = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\\d\\d) (${months.join('|')}) (\\d{4}) ${time} GMT$`);
const rfc850 = new RegExp(
  `^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\\d\\d)-(${months.join('|')})-(\\d\\d) ${time} GMT$`,
);
const asctime = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (${months.join('|')}) ([ \\d]\\d) ${time} (\\d{4})$`);

/** The time, in milliseconds since the epoch, of an HTTP date (RFC 9110 section 5.6.7). Null: it is not a valid date. */
export function parseHttpDate(text: string): number | null {
  let match = usual.exec(text);
  if (match !== null) return utc(match[3]!, match[2]!, match[1]!, match.slice(4));
  match = rfc850.exec(text);
  // A two-digit year: dates near the current time are always in this century.
  if (match !== null) return utc(`20${match[3]}`, match[2]!, match[1]!, match.slice(4));
  match = asctime.exec(text);
  return match === null ? null : utc(match[6]!, match[1]!, match[2]!, match.slice(3, 6));
}

function utc(year: string, month: string, day: string, clock: readonly string[]): number | null {
  const [hours, minutes, seconds] = clock.map(Number);
  const date = Number(day);
  const start = Date.UTC(Number(year), months.indexOf(month), date);
  if (new Date(start).getUTCDate() !== date) return null;
  return start + ((hours! * 60 + minutes!) * 60 + seconds!) * 1000;
}
