/** What decides which requests a route matches, as far as it matters here. */
export interface RouteMatch {
  readonly kind: 'http' | 'stream';
  /** Names without wildcards; null: others too, or any. */
  readonly hosts: readonly string[] | null;
  /** Prefixes; null: others too, or any path. */
  readonly paths: readonly string[] | null;
  /** Kinds of conditions that it has: hosts, paths, methods. A route with more of them comes first. */
  readonly conditions: number;
  /** It may come before others with as many conditions, whatever their paths are. */
  readonly comesFirst: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const conditions = ['hosts', 'paths', 'methods', 'headers', 'snis', 'sources', 'destinations'];
const anything = { hosts: null, paths: null, conditions: conditions.length, comesFirst: true };

/** The match of a route, of which some fields may be invalid. It may be wider than the route, never narrower. */
export function matchOf(route: Fields, invalid: ReadonlySet<string> = new Set()): readonly RouteMatch[] {
  const { protocols, expression, hosts, headers, regex_priority: priority } = route;
  if (expression != null || conditions.some((name) => invalid.has(name)) || invalid.has('protocols')) {
    return [
      { ...anything, kind: 'http' },
      { ...anything, kind: 'stream' },
    ];
  }
  const names = listOf(protocols)?.map(String) ?? ['http'];
  const kinds = new Set(
    names.map((name) => (/^(?:https?|grpcs?)$/.test(name) ? ('http' as const) : ('stream' as const))),
  );
  const plain = plainPaths(route['paths']);
  return [...kinds].map((kind) => ({
    kind,
    hosts: plainHosts(hosts),
    paths: plain,
    conditions: conditions.filter((name) => route[name] != null).length,
    comesFirst: headers != null || (typeof priority === 'number' && priority > 0) || plain === null,
  }));
}

/** Routes that are missing, and whether another one would receive requests that are meant for one of them. */
export interface MissingRoutes {
  add(matches: readonly RouteMatch[]): void;
  receives(matches: readonly RouteMatch[]): boolean;
  readonly size: number;
}

export function createMissingRoutes(): MissingRoutes {
  const tables = { http: createTable(), stream: createTable() };
  let size = 0;
  return {
    add(matches) {
      size += matches.length;
      for (const match of matches) tables[match.kind].add(match);
    },
    receives: (matches) => matches.some((match) => tables[match.kind].receives(match)),
    get size() {
      return size;
    },
  };
}

interface Table {
  add(match: RouteMatch): void;
  receives(match: RouteMatch): boolean;
}

function createTable(): Table {
  const all: RouteMatch[] = [];
  const anyPath: RouteMatch[] = [];
  const byPath = new Map<string, RouteMatch[]>();
  let order: readonly string[] | null = null;

  function receivesFrom(list: readonly RouteMatch[] | undefined, match: RouteMatch, isLonger: boolean): boolean {
    return list?.some((missing) => shareHost(match, missing) && !comesAfter(missing, match, isLonger)) === true;
  }

  /** A missing route has this path or one that begins it. */
  function isBelow(path: string, match: RouteMatch): boolean {
    for (let length = path.length; length > 0; length--) {
      if (receivesFrom(byPath.get(path.slice(0, length)), match, length < path.length)) return true;
    }
    return false;
  }

  /** This path begins the path of a missing route. */
  function isAbove(path: string, match: RouteMatch): boolean {
    order ??= [...byPath.keys()].sort();
    for (let at = lowerBound(order, path); order[at]?.startsWith(path) === true; at++) {
      if (receivesFrom(byPath.get(order[at] as string), match, false)) return true;
    }
    return false;
  }

  return {
    add(match) {
      order = null;
      all.push(match);
      if (match.paths === null) anyPath.push(match);
      for (const path of match.paths ?? []) {
        const list = byPath.get(path);
        if (list === undefined) byPath.set(path, [match]);
        else list.push(match);
      }
    },
    receives(match) {
      if (match.paths === null) return all.some((missing) => shareHost(match, missing));
      if (anyPath.some((missing) => shareHost(match, missing))) return true;
      return match.paths.some((path) => isBelow(path, match) || isAbove(path, match));
    },
  };
}

/** The other route would receive the requests anyway: it has more conditions, or as many and a longer path. */
function comesAfter(missing: RouteMatch, other: RouteMatch, isLonger: boolean): boolean {
  if (missing.comesFirst || missing.conditions > other.conditions) return false;
  if (missing.conditions < other.conditions) return true;
  return isLonger && (missing.hosts === null || other.hosts !== null);
}

function shareHost(a: RouteMatch, b: RouteMatch): boolean {
  const { hosts } = b;
  return a.hosts === null || hosts === null || a.hosts.some((host) => hosts.includes(host));
}

function lowerBound(sorted: readonly string[], value: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Null where a wildcard makes it hard to tell. The port does not count. */
function plainHosts(value: unknown): readonly string[] | null {
  const hosts = listOf(value)?.map((host) => String(host).toLowerCase().replace(/:\d+$/, '')) ?? [];
  return hosts.length === 0 || hosts.some((host) => host.includes('*')) ? null : hosts;
}

/** Null for a regex, and for a path that is compared in another form than it is written. */
function plainPaths(value: unknown): readonly string[] | null {
  const paths = listOf(value)?.map(String) ?? [];
  return paths.length === 0 || paths.some((path) => !/^\/[\w./~-]*$/.test(path) || /\/\.|\/\//.test(path))
    ? null
    : paths;
}

function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) && value.length > 0 ? value : null;
}
