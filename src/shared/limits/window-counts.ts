import type { WindowLimit, WindowPeriod, WindowState, WindowVerdict } from '../../plugin-sdk/limits.ts';

/** One window and what was taken in it and in the previous one. Milliseconds since the epoch. */
export interface WindowCount {
  readonly start: number;
  readonly end: number;
  readonly used: number;
  /** 0 unless the window slides. */
  readonly before: number;
}

/** Fraction of the previous window that still counts, from 0 to 1. */
export function shareOfPrevious(start: number, end: number, now: number): number {
  return Math.min(1, Math.max(0, (end - now) / (end - start)));
}

/** The verdict of a limiter, from the counts after the request. */
export function verdictOf(
  limits: readonly WindowLimit[],
  counts: readonly WindowCount[],
  now: number,
  violated: number,
): WindowVerdict {
  const windows = counts.map((count, at) =>
    stateOf(limits[at]?.period ?? 'second', limits[at]?.limit ?? 0, count, now),
  );
  return { allowed: violated < 0, violated, windows };
}

/** Index of the first window that has less than `cost` left; -1: none. */
export function firstFull(
  limits: readonly WindowLimit[],
  counts: readonly WindowCount[],
  now: number,
  cost: number,
): number {
  return counts.findIndex((count, at) => seenIn(count, now) + cost > (limits[at]?.limit ?? 0));
}

function stateOf(period: WindowPeriod, limit: number, count: WindowCount, now: number): WindowState {
  const remaining = Math.max(0, Math.floor(limit - seenIn(count, now)));
  return { period, limit, remaining, reset: Math.max(1, Math.ceil((roomAt(limit, remaining, count) - now) / 1000)) };
}

function seenIn({ start, end, used, before }: WindowCount, now: number): number {
  return before === 0 ? used : used + before * shareOfPrevious(start, end, now);
}

/** When one more can be taken; for a window that has room, its end. */
function roomAt(limit: number, remaining: number, { start, end, used, before }: WindowCount): number {
  if (remaining > 0 || before === 0 || used + 1 > limit) return end;
  return end - ((limit - 1 - used) / before) * (end - start);
}

const lengths = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The calendar window, in UTC, of an instant: its start and its end, which is the start of the next. */
export function windowAt(period: WindowPeriod, instant: number): { readonly start: number; readonly end: number } {
  if (period === 'month' || period === 'year') return calendarWindow(period, new Date(instant));
  const start = Math.floor(instant / lengths[period]) * lengths[period];
  return { start, end: start + lengths[period] };
}

function calendarWindow(period: 'month' | 'year', date: Date): { start: number; end: number } {
  const year = date.getUTCFullYear();
  if (period === 'year') return { start: Date.UTC(year, 0), end: Date.UTC(year + 1, 0) };
  const month = date.getUTCMonth();
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
}
