import { useEffect, useState } from 'react';

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A moment as `3 minutes ago`, with the date and time on hover. `seconds`: since the epoch. */
export function RelativeTime({ seconds }: { readonly seconds: number }) {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 30_000);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(seconds * 1000);
  return (
    <time dateTime={date.toISOString()} title={absolute.format(date)}>
      {relativeText(seconds - Math.max(now, seconds))}
    </time>
  );
}

export function relativeText(difference: number): string {
  for (const [unit, size] of steps) {
    if (Math.abs(difference) >= size) return relative.format(Math.trunc(difference / size), unit);
  }
  return 'just now';
}
