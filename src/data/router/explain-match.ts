import type { Candidate } from './candidate.ts';
import { type CompiledRoute, compileRoute } from './compile-route.ts';
import { meets } from './header-condition.ts';
import { matchesHost } from './host-index.ts';
import { SKIP_SEGMENT } from './radix-trie.ts';
import { rankReason } from './rank-reason.ts';
import type { RoutableRoute, RouteQuery } from './router.ts';
import { matchesSni } from './sni.ts';

/** The conditions of a route, in the order in which the router checks them. */
export type ConditionKind = 'host' | 'path' | 'method' | 'header' | 'sni';

/** One condition of a route, and the request's value for it. */
export interface ExplainedCondition {
  readonly kind: ConditionKind;
  /** Name of the header, as the route writes it; '' for the other kinds. */
  readonly name: string;
  /** As configured. For `path`: the one path in question. */
  readonly wanted: readonly string[];
  /** Empty: the request has none. */
  readonly got: readonly string[];
  readonly met: boolean;
}

/** Why a route was selected, or was not. */
export interface ExplainedRoute<R extends RoutableRoute> {
  readonly route: R;
  /** Conditions before the one that failed, all of them when none did. */
  readonly met: readonly ExplainedCondition[];
  /** The first that failed; null: all are met. */
  readonly failed: ExplainedCondition | null;
  /** How many failed. */
  readonly failures: number;
  /**
   * Why another route outranks this one, although it matches too. '' when it is the selected one, or does not match.
   */
  readonly outranked: string;
}

export interface MatchExplanation<R extends RoutableRoute> {
  readonly matched: ExplainedRoute<R> | null;
  /** The nearest ones: those that match but rank lower, then those with the fewest failures. */
  readonly others: readonly ExplainedRoute<R>[];
  /** The number of routes. */
  readonly routes: number;
}

/** A route, represented by the candidate that came nearest to a match. */
interface Near<R extends RoutableRoute> {
  readonly candidate: Candidate<R>;
  readonly failures: number;
  /** How much of the request's path it begins with. */
  readonly common: number;
}

/**
 * Explains the router's decision. It inspects every route, so it is for explanations, not for each request. `most`: how
 * many other routes it reports.
 */
export function explainMatch<R extends RoutableRoute>(
  routes: Iterable<CompiledRoute<R>>,
  query: RouteQuery,
  most: number,
): MatchExplanation<R> {
  const all: Near<R>[] = [];
  for (const route of routes) {
    const near = nearestOf(route, query);
    if (near !== null) all.push(near);
  }
  all.sort(compareNear);
  const [first] = all;
  const winner = first?.failures === 0 ? first.candidate : null;
  const others = (winner === null ? all : all.slice(1)).slice(0, most);
  return {
    matched: winner === null ? null : explained(winner, query, ''),
    others: others.map(({ candidate, failures }) =>
      explained(candidate, query, failures === 0 && winner !== null ? rankReason(winner, candidate) : ''),
    ),
    routes: all.length,
  };
}

/** Whether the route would match if it were enabled. Throws when it cannot be compiled. */
export function wouldMatch<R extends RoutableRoute>(route: R, query: RouteQuery): boolean {
  return nearestOf(compileRoute(route), query)?.failures === 0;
}

function nearestOf<R extends RoutableRoute>({ placements }: CompiledRoute<R>, query: RouteQuery): Near<R> | null {
  const [first] = placements;
  if (first === undefined) return null;
  // All conditions but the path are the same for each of its candidates.
  const otherFailures = failuresBesidePath(first.candidate, query);
  let nearest: Near<R> | null = null;
  for (const { key, candidate } of placements) {
    const common = commonLength(key, query.path);
    // An expression whose literal beginning differs from the path is not compiled.
    const met = common === literalLength(key) && meetsPath(candidate, query.path);
    const near = { candidate, failures: otherFailures + Number(!met), common: met ? Number.POSITIVE_INFINITY : common };
    if (nearest === null || compareNear(near, nearest) < 0) nearest = near;
  }
  return nearest;
}

function failuresBesidePath<R extends RoutableRoute>({ conditions }: Candidate<R>, query: RouteQuery): number {
  const { hosts, methods, headers, snis } = conditions;
  let failures = 0;
  if (hosts !== null && !matchesHost(hosts, query.host, query.port)) failures++;
  if (methods !== null && !methods.includes(query.method)) failures++;
  for (const condition of headers) if (!meets(condition, query.headerValues(condition.name))) failures++;
  return failures + Number(!meetsSni(snis, query));
}

/** Over plain HTTP the server name does not restrict. */
function meetsSni(snis: readonly string[] | null, { scheme, sni }: RouteQuery): boolean {
  return snis === null || scheme !== 'https' || matchesSni(snis, sni);
}

function compareNear<R extends RoutableRoute>(a: Near<R>, b: Near<R>): number {
  if (a.failures !== b.failures) return a.failures - b.failures;
  if (a.failures > 0 && a.common !== b.common) return b.common > a.common ? 1 : -1;
  if (a.candidate === b.candidate) return 0;
  return a.candidate.outranks(b.candidate) ? -1 : 1;
}

function explained<R extends RoutableRoute>(
  candidate: Candidate<R>,
  query: RouteQuery,
  outranked: string,
): ExplainedRoute<R> {
  const conditions = conditionsOf(candidate, query);
  const first = conditions.findIndex(({ met }) => !met);
  return {
    route: candidate.conditions.route,
    met: first < 0 ? conditions : conditions.slice(0, first),
    failed: conditions[first] ?? null,
    failures: conditions.filter(({ met }) => !met).length,
    outranked,
  };
}

function conditionsOf<R extends RoutableRoute>(candidate: Candidate<R>, query: RouteQuery): ExplainedCondition[] {
  const { route, hosts, methods, headers, snis } = candidate.conditions;
  const found: ExplainedCondition[] = [];
  const add = (
    kind: ConditionKind,
    wanted: readonly string[],
    got: readonly string[],
    met: boolean,
    name = '',
  ): void => {
    found.push({ kind, name, wanted, got, met });
  };
  if (hosts !== null) add('host', route.hosts ?? [], present(query.host), matchesHost(hosts, query.host, query.port));
  const path = pathOf(candidate);
  if (path !== null) add('path', [path], [query.path], meetsPath(candidate, query.path));
  if (methods !== null) add('method', methods, [query.method], methods.includes(query.method));
  for (const condition of headers) {
    const sent = query.headerValues(condition.name);
    const [name, values] = configuredHeader(route, condition.name);
    add('header', values, sent, meets(condition, sent), name);
  }
  if (snis !== null) add('sni', snis, present(query.sni), meetsSni(snis, query));
  return found;
}

function present(text: string): readonly string[] {
  return text === '' ? [] : [text];
}

function meetsPath<R extends RoutableRoute>({ regex, prefix }: Candidate<R>, path: string): boolean {
  return regex === null ? path.startsWith(prefix) : regex.test(path);
}

/** The path of the candidate, as configured; null: its route has none. */
function pathOf<R extends RoutableRoute>({ conditions, prefix, regex, order }: Candidate<R>): string | null {
  const { paths } = conditions.route;
  if (paths === null || paths.length === 0) return null;
  if (regex === null) return Buffer.from(prefix, 'latin1').toString('utf8');
  return [...new Set(paths)].filter((path) => path.startsWith('~'))[order] ?? null;
}

/** Name and values of a header as the route writes them; `name`: lower case, `-` for `_`. */
function configuredHeader(route: RoutableRoute, name: string): readonly [string, readonly string[]] {
  const found = Object.entries(route.headers ?? {}).find(([key]) => key.toLowerCase().replaceAll('_', '-') === name);
  return found ?? [name, []];
}

/** Characters of a trie path up to the first variable part. */
function literalLength(key: string): number {
  const skip = key.indexOf(SKIP_SEGMENT);
  return skip < 0 ? key.length : skip;
}

/** Characters from the beginning that a trie path shares with the request's. */
function commonLength(key: string, path: string): number {
  let at = 0;
  while (at < key.length && at < path.length && key[at] !== SKIP_SEGMENT && key[at] === path[at]) at++;
  return at;
}
