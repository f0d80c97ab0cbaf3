const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const oneDigit = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const twoDigits = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export function countText(value: number): string {
  return whole.format(value);
}

/** Short: `12k`. */
export function compactText(value: number): string {
  return compact.format(value);
}

export function rateText(value: number): string {
  if (value >= 100_000) return compact.format(value);
  return value >= 100 ? whole.format(value) : value >= 1 ? oneDigit.format(value) : twoDigits.format(value);
}

/** `value` in milliseconds; null: there were no requests. */
export function durationText(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value >= 1_000) return `${twoDigits.format(value / 1_000)} s`;
  return `${value >= 100 ? whole.format(value) : value >= 10 ? oneDigit.format(value) : twoDigits.format(value)} ms`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

export function bytesText(value: number): string {
  let [rest, at] = [value, 0];
  while (rest >= 1_000 && at < units.length - 1) [rest, at] = [rest / 1_000, at + 1];
  return `${rest >= 100 ? whole.format(rest) : oneDigit.format(rest)} ${units[at]}`;
}

/** `part` of `all`. */
export function shareText(part: number, all: number): string {
  return percent.format(all === 0 ? 0 : part / all);
}
