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

/**
 * The match of a route that may have invalid fields. It may be wider than what the route means, never narrower: of a regex counts the
 * text before its first operator.
 */
export function matchOf(route: Fields, invalid: ReadonlySet<string> = new Set()): readonly RouteMatch[] {
  const { protocols, expression, headers, regex_priority: priority } = route;
  const names = listOf(protocols)?.map(String) ?? ['http'];
  const kinds = invalid.has('protocols')
    ? (['http', 'stream'] as const)
    : new Set(names.map((name) => (/^(?:https?|grpcs?)$/.test(name) ? ('http' as const) : ('stream' as const))));
  const prefixes = prefixesOf(route['paths']);
  if (expression != null || prefixes === null) return [...kinds].map((kind) => ({ ...anything, kind }));
  const isOdd = ['methods', 'headers', 'snis', 'sources', 'destinations'].some((name) => invalid.has(name));
  const first =
    headers != null || (typeof priority === 'number' && priority > 0) || prefixes.some(({ exact }) => !exact);
  return [...kinds].map((kind) => ({
    kind,
    hosts: invalid.has('hosts') ? null : plainHosts(route['hosts']),
    paths: prefixes.map(({ prefix }) => prefix),
    conditions: conditions.filter((name) => route[name] != null).length,
    comesFirst: isOdd || first,
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

interface Prefix {
  readonly prefix: string;
  /** The prefix is the path. */
  readonly exact: boolean;
}

/** Null: any path. */
function prefixesOf(value: unknown): readonly Prefix[] | null {
  const paths = listOf(value);
  if (paths === null || paths.some((path) => typeof path !== 'string')) return null;
  return paths.map((path) =>
    String(path).startsWith('~') ? regexPrefix(String(path).slice(1)) : pathPrefix(String(path)),
  );
}

/** What is compared in another form than it is written begins at an escape, or at an empty or dotted segment. */
function pathPrefix(path: string): Prefix {
  const whole = path.startsWith('/') ? path : `/${path}`;
  const end = whole.search(/[^\w./~-]|\/\/|\/\./);
  return end < 0 ? { prefix: whole, exact: true } : { prefix: whole.slice(0, Math.max(end, 1)), exact: false };
}

function regexPrefix(source: string): Prefix {
  const body = source.replace(/^\^/, '');
  const end = body.includes('|') ? 0 : body.search(/[^\w/~-]/);
  // A quantifier is about the character before it.
  const length = end > 0 && /[*?{]/.test(body[end] ?? '') ? end - 1 : end;
  const prefix = length < 0 ? body : body.slice(0, length);
  return { prefix: prefix.startsWith('/') ? pathPrefix(prefix).prefix : '/', exact: false };
}

function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) && value.length > 0 ? value : null;
}
