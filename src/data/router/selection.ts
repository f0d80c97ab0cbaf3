import type { Candidate } from './candidate.ts';
import type { CandidateList } from './candidate-list.ts';
import type { RoutableRoute, RouteMatch, RouteQuery } from './router.ts';

/** The best candidate of one request so far. One object serves all requests of a router. */
export class Selection<R extends RoutableRoute> {
  private best: Candidate<R> | null = null;
  private captures: RegExpExecArray | null = null;

  /** Selects the first of the list that matches, unless a better one was found before. */
  consider(list: CandidateList<R>, query: RouteQuery): void {
    for (let i = 0; i < list.length; i++) {
      const candidate = list[i]!;
      if (this.best !== null && !candidate.outranks(this.best)) return;
      if (candidate.checksPrefix && !query.path.startsWith(candidate.prefix)) continue;
      if (candidate.needsCheck && !candidate.meets(query)) continue;
      if (candidate.regex === null) {
        this.captures = null;
      } else {
        const captures = candidate.regex.exec(query.path);
        if (captures === null) continue;
        this.captures = captures;
      }
      this.best = candidate;
      return;
    }
  }

  /** Writes the result to `into` and clears it. */
  finish(into: RouteMatch<R>): boolean {
    const { best, captures } = this;
    this.best = null;
    this.captures = null;
    into.captures = captures;
    if (best === null) {
      into.route = null;
      into.matchedPath = '';
      return false;
    }
    into.route = best.conditions.route;
    into.matchedPath = captures === null ? best.prefix : captures[0];
    return true;
  }
}
