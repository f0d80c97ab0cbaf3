import { explainRoute } from '../explain/explain-recorder.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RouteExplanation } from '../snapshot/runtime.ts';
import { TimeBudget } from './time-budget.ts';

/** Comparing a request with so many routes takes a few milliseconds. */
const maxRoutes = 2_000;
/** Milliseconds, at once and per second. */
const maxTime = 20;
const timeRate = 5;
/** The part of the budget that requests without a route do not share with others. */
const reserve = 0.5;

/** Finds the routes that a request nearly matched, as often as the time allows. */
export class NearRoutes {
  readonly #budget = new TimeBudget(maxTime, timeRate);

  /** Call it after the answer. `complete`: all routes were compared. Otherwise only the match is known. */
  of(x: Exchange): { readonly match: RouteExplanation; readonly complete: boolean } {
    const routes = x.snapshot.router.size;
    const all = routes > maxRoutes ? null : this.#budget.spend(x.route === null ? 0 : reserve, () => explainRoute(x));
    return all !== null && sameMatch(all, x)
      ? { match: all, complete: true }
      : { match: onlyMatch(x, routes), complete: false };
  }
}

/** The config may have changed since the request was routed. */
function sameMatch({ matched }: RouteExplanation, { route }: Exchange): boolean {
  return (matched?.route.id ?? null) === (route?.id ?? null);
}

function onlyMatch({ route }: Exchange, routes: number): RouteExplanation {
  const matched = route === null ? null : { route, met: [], failed: null, failures: 0, outranked: '' };
  return { matched, others: [], routes, disabled: [] };
}
