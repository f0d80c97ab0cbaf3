import { copyMap } from '../../shared/util/copy-in-steps.ts';
import { CandidateSet } from './candidate-set.ts';
import { type CompiledRoute, compileRoute, type Placement } from './compile-route.ts';
import { explainMatch, type MatchExplanation } from './explain-match.ts';
import { HostIndex, type PathIndex } from './host-index.ts';
import { RadixTrie } from './radix-trie.ts';
import type { RoutableRoute, RouteMatch, RouteQuery, Router } from './router.ts';
import { Selection } from './selection.ts';

/** Above this number of pairs of host and path a route is indexed by host only and its paths are compared. */
const MAX_PAIRS = 10_000;

export function createRouter<R extends RoutableRoute>(): IndexedRouter<R> {
  return new IndexedRouter<R>();
}

/**
 * Finds the candidates of a request by host, path, method, and header value or server name, so that its cost depends on
 * the request and on the routes that match these, and selects the one with the highest rank. Changes affect only the
 * index entries of their own route. `benchmarks/micro/router.ts` measures both costs.
 */
export class IndexedRouter<R extends RoutableRoute> implements Router<R> {
  private readonly routes = new Map<string, CompiledRoute<R>>();
  private edition = 0;
  private anyHost: PathIndex<R> = new RadixTrie();
  private readonly hosts = new HostIndex<R>();
  private readonly selection = new Selection<R>();
  private readonly foundPaths: PathIndex<R>[] = [];
  private readonly foundSets: CandidateSet<R>[] = [];

  get size(): number {
    return this.routes.size;
  }

  /**
   * Gives an empty router the routes of another, in steps. They share what neither changes, so the other must not be changed from here
   * on, but it can still be used.
   */
  *copyFrom(other: IndexedRouter<R>): Generator<void> {
    this.edition = other.edition + 1;
    this.anyHost = other.anyHost.fork(this.edition);
    yield* this.hosts.copyFrom(other.hosts, this.edition);
    yield* copyMap(other.routes, this.routes);
  }

  /** When the route cannot be compiled, the existing one of that id stays unchanged. */
  upsert(route: R): void {
    const compiled = compileRoute(route);
    this.remove(route.id);
    this.routes.set(route.id, compiled);
    for (const placement of compiled.placements) placement.candidate.checksPrefix = isOversized(compiled);
    if (compiled.conditions.hosts === null) addTo(this.anyHost, compiled);
    else for (const host of compiled.conditions.hosts) addTo(this.hosts.ensure(host), compiled);
  }

  remove(id: string): void {
    const compiled = this.routes.get(id);
    if (compiled === undefined) return;
    this.routes.delete(id);
    if (compiled.conditions.hosts === null) {
      removeFrom(this.anyHost, compiled);
      return;
    }
    for (const host of compiled.conditions.hosts) {
      removeFrom(this.hosts.ensure(host), compiled);
      this.hosts.prune(host);
    }
  }

  match(query: RouteQuery, into: RouteMatch<R>): boolean {
    if (!this.hosts.isEmpty && query.host !== '') {
      const count = this.hosts.collect(query.host, query.port, this.foundPaths);
      for (let i = 0; i < count; i++) this.select(this.foundPaths[i]!, query);
    }
    this.select(this.anyHost, query);
    return this.selection.finish(into);
  }

  /** Why the request matches the route that it matches. Inspects every route. */
  explain(query: RouteQuery, most: number): MatchExplanation<R> {
    return explainMatch(this.routes.values(), query, most);
  }

  private select(paths: PathIndex<R>, query: RouteQuery): void {
    const sets = this.foundSets;
    // The longest path first: it usually ranks highest, and lower ranks are skipped unchecked.
    for (let i = paths.collect(query.path, sets) - 1; i >= 0; i--) sets[i]!.select(query, this.selection);
  }
}

function isOversized<R extends RoutableRoute>({ conditions: { hosts }, placements }: CompiledRoute<R>): boolean {
  return hosts !== null && hosts.length > 1 && hosts.length * placements.length > MAX_PAIRS;
}

function indexKey<R extends RoutableRoute>({ key, candidate }: Placement<R>): string {
  return candidate.checksPrefix ? '' : key;
}

function addTo<R extends RoutableRoute>(paths: PathIndex<R>, compiled: CompiledRoute<R>): void {
  for (const placement of compiled.placements) {
    const key = indexKey(placement);
    let set = paths.get(key);
    if (set?.edition !== paths.edition) {
      set = set?.copy(paths.edition) ?? new CandidateSet(paths.edition);
      paths.set(key, set);
    }
    set.add(placement.candidate);
  }
}

function removeFrom<R extends RoutableRoute>(paths: PathIndex<R>, compiled: CompiledRoute<R>): void {
  for (const placement of compiled.placements) {
    const key = indexKey(placement);
    let set = paths.get(key);
    if (set === null) continue;
    if (set.edition !== paths.edition) {
      set = set.copy(paths.edition);
      paths.set(key, set);
    }
    set.remove(placement.candidate);
    if (set.isEmpty) paths.delete(key);
  }
}
