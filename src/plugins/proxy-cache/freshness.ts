import type { HeaderBlock } from '../../plugin-sdk/index.ts';
import type { CacheControl } from './cache-control.ts';
import { lineOf, linesOf } from './header-lines.ts';
import { parseHttpDate } from './http-date.ts';

/** Seconds that count as for ever: of an `Age` that nobody can read. */
const ages = 2 ** 31;

/** Seconds that an answer stays fresh, or -1 when it does not say (RFC 9111 4.2.1; no heuristics, 4.2.2). */
export function freshFor(block: HeaderBlock, control: CacheControl, now: number): number {
  if (control.sMaxAge >= 0) return control.sMaxAge;
  if (control.maxAge >= 0) return control.maxAge;
  const expires = linesOf(block, 'expires');
  if (expires.length === 0) return -1;
  // Of two, and of one that is no date, only so much is sure: it is over (RFC 9111 5.3).
  const until = expires.length > 1 ? null : parseHttpDate(expires[0] as string, now);
  if (until === null) return 0;
  return Math.max(0, (until - dateOf(block, now)) / 1000);
}

/** Age of an answer when it came, in seconds (RFC 9111 4.2.3). `asked`, `came`: milliseconds since the epoch. */
export function ageOnArrival(block: HeaderBlock, asked: number, came: number): number {
  const apparent = Math.max(0, (came - dateOf(block, came)) / 1000);
  return Math.max(apparent, statedAge(block) + Math.max(0, came - asked) / 1000);
}

/**
 * What `Age` says. Of a list the first member counts (RFC 9111 5.1), unless the members are the same: that is a field written twice.
 * Lines that contradict the grammar make the answer stale.
 */
function statedAge(block: HeaderBlock): number {
  const lines = linesOf(block, 'age');
  if (lines.length === 0) return 0;
  if (lines.length > 1) return ages;
  const [first = '', second] = (lines[0] as string).split(',').map((member) => member.trim());
  return /^\d+$/.test(first) && first !== second ? Math.min(Number(first), ages) : ages;
}

function dateOf(block: HeaderBlock, now: number): number {
  const text = lineOf(block, 'date');
  return (text === null ? null : parseHttpDate(text, now)) ?? now;
}
