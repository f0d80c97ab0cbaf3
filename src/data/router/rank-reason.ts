import type { Candidate } from './candidate.ts';
import type { RoutableRoute } from './router.ts';

/** The parts of `Rank.high` (compile-route.ts). */
interface RankParts {
  readonly kinds: number;
  readonly plainHost: boolean;
  readonly headers: number;
  readonly regex: boolean;
}

function rankParts(high: number): RankParts {
  const base = Math.floor(high / 2);
  return {
    kinds: Math.floor(base / 512),
    plainHost: Math.floor(base / 256) % 2 === 1,
    headers: base % 256,
    regex: high % 2 === 1,
  };
}

/** Why the first of two candidates that both match outranks the second. */
export function rankReason<R extends RoutableRoute>(winner: Candidate<R>, other: Candidate<R>): string {
  const won = rankParts(winner.high);
  const lost = rankParts(other.high);
  if (won.kinds !== lost.kinds)
    return `it has ${counted(lost.kinds, 'kind of condition', 'kinds of conditions')}, not ${won.kinds}`;
  if (won.plainHost !== lost.plainHost) return 'hosts without a wildcard go first';
  if (won.headers !== lost.headers)
    return `it asks for ${counted(lost.headers, 'header', 'headers')}, not ${won.headers}`;
  if (won.regex !== lost.regex) return 'a regular expression goes before a prefix';
  if (winner.low !== other.low) {
    return won.regex
      ? `its regex_priority is ${other.low}, not ${winner.low}`
      : `its path has ${counted(other.low, 'character', 'characters')}, not ${winner.low}`;
  }
  return 'they rank alike, and the greater id goes first';
}

function counted(count: number, one: string, many: string): string {
  if (count === 0) return `no ${one}`;
  return `${count} ${count === 1 ? one : many}`;
}
