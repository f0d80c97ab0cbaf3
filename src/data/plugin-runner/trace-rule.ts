import type { TraceNeeds } from '../../plugin-sdk/trace.ts';

/** Which requests are traced, for all plugins that need it. */
export interface TraceRule {
  /** Fraction of all requests, 0 to 1. */
  readonly rate: number;
  /** Matches header lines, in a header block, of requests that are always traced; null: none. */
  readonly headers: RegExp | null;
}

/** Null: no plugin traces. `defaultRate` applies to plugins without a rate. */
export function traceRule(needs: readonly TraceNeeds[], defaultRate: number): TraceRule | null {
  if (needs.length === 0) return null;
  const names = [...new Set(needs.flatMap(({ headers = [] }) => headers.map((name) => name.toLowerCase())))];
  return {
    rate: Math.max(...needs.map(({ rate = defaultRate }) => rate)),
    headers: names.length === 0 ? null : new RegExp(`(?:^|\\n)(?:${names.map(escaped).join('|')}):`, 'i'),
  };
}

/** The name, escaped for a regular expression. */
function escaped(name: string): string {
  return name.replace(/[^\w-]/g, '\\$&');
}
