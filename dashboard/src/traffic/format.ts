const time = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const twoDigits = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

/** `08:00:00.123`, local. */
export function timeText(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : time.format(date);
}

export function momentText(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : moment.format(date);
}

/** `4.21 ms`, `38.5 ms`, `412 ms`, `1.2 s`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 10) return `${hundredths.format(milliseconds)} ms`;
  if (milliseconds < 100) return `${tenths.format(milliseconds)} ms`;
  if (milliseconds < 1000) return `${whole.format(milliseconds)} ms`;
  return `${twoDigits.format(milliseconds / 1000)} s`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${whole.format(bytes)} B`;
  if (bytes < 1_048_576) return `${tenths.format(bytes / 1024)} KiB`;
  return `${tenths.format(bytes / 1_048_576)} MiB`;
}

export function countText(count: number): string {
  return whole.format(count);
}

/** Class of a badge, and of the bar at the beginning of a line. */
export function statusClass(status: number): 'ok' | 'accent' | 'warn' | 'danger' {
  if (status >= 500) return 'danger';
  if (status >= 400) return 'warn';
  return status >= 300 ? 'accent' : 'ok';
}
