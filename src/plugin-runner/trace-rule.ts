import type { TraceNeeds } from '../plugin-sdk/trace.ts';

/** Which requests are recorded, for whichever plugin wants it. */
export interface TraceRule {
  /** Share of all requests, 0 to 1. */
  readonly rate: number;
  /** Finds header lines, in a block, of requests that are recorded in any case; null: there are none. */
  readonly headers: RegExp | null;
}

/** Null: nobody wants any. `usualRate` is for those that name none. */
export function traceRule(needs: readonly TraceNeeds[], usualRate: number): TraceRule | null {
  if (needs.length === 0) return null;
  const names = [...new Set(needs.flatMap(({ headers = [] }) => headers.map((name) => name.toLowerCase())))];
  return {
    rate: Math.max(...needs.map(({ rate = usualRate }) => rate)),
    headers: names.length === 0 ? null : new RegExp(`(?:^|\\n)(?:${names.map(escaped).join('|')}):`, 'i'),
  };
}

/** The name as a regular expression has it. */
function escaped(name: string): string {
  return name.replace(/[^\w-]/g, '\\$&');
}
