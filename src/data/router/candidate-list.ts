import type { Candidate } from './candidate.ts';
import type { RoutableRoute } from './router.ts';

/** Candidates, best first. */
export type CandidateList<R extends RoutableRoute> = Candidate<R>[];

export function insertRanked<R extends RoutableRoute>(list: CandidateList<R>, candidate: Candidate<R>): void {
  list.splice(rankedPosition(list, candidate), 0, candidate);
}

export function removeRanked<R extends RoutableRoute>(list: CandidateList<R>, candidate: Candidate<R>): void {
  const at = rankedPosition(list, candidate);
  if (list[at] === candidate) list.splice(at, 1);
}

/** The number of candidates that outrank this one. */
function rankedPosition<R extends RoutableRoute>(list: CandidateList<R>, candidate: Candidate<R>): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]!.outranks(candidate)) low = middle + 1;
    else high = middle;
  }
  return low;
}
