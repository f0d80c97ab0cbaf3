import { meetsHeaderConditions } from './header-condition.ts';
import type { RouteConditions } from './route-conditions.ts';
import type { RoutableRoute, RouteQuery } from './router.ts';
import { matchesSni } from './sni.ts';

/** Position in the priority order: larger wins, compared field by field. */
export interface Rank {
  /** Attribute kinds, plain-host bit, header count, regex bit. */
  readonly high: number;
  /** `regex_priority` of a regular expression, else the length of the plain path. */
  readonly low: number;
  /** The id of the sub-route. */
  readonly id: string;
}

/** One way for a route to match: one of its paths, or none when it has no paths. */
export class Candidate<R extends RoutableRoute> {
  readonly conditions: RouteConditions<R>;
  readonly high: number;
  readonly low: number;
  readonly id: string;
  /** Position among the regular expressions of the sub-route: the first that matches provides the captures. */
  readonly order: number;
  /** The plain path; '' with a regular expression or without paths. */
  readonly prefix: string;
  readonly regex: RegExp | null;
  /** False when it has only method, host and path, which the index has decided. */
  readonly needsCheck: boolean;
  /** True when the index could not decide the path (a route with too many pairs of host and path). */
  checksPrefix = false;
  /** The header whose values index the candidate; set when it is first inserted. */
  indexHeader: string | null = null;

  constructor(conditions: RouteConditions<R>, rank: Rank, order: number, prefix: string, regex: RegExp | null) {
    this.conditions = conditions;
    this.high = rank.high;
    this.low = rank.low;
    this.id = rank.id;
    this.order = order;
    this.prefix = prefix;
    this.regex = regex;
    this.needsCheck = conditions.headers.length > 0 || conditions.snis !== null;
  }

  outranks(other: Candidate<R>): boolean {
    if (this.high !== other.high) return this.high > other.high;
    if (this.low !== other.low) return this.low > other.low;
    if (this.id !== other.id) return this.id > other.id;
    return this.order !== other.order ? this.order < other.order : this.prefix < other.prefix;
  }

  /** Whether headers and server name match. */
  meets(query: RouteQuery): boolean {
    const { headers, snis } = this.conditions;
    if (snis !== null && query.scheme === 'https' && !matchesSni(snis, query.sni)) return false;
    return headers.length === 0 || meetsHeaderConditions(headers, query);
  }
}
