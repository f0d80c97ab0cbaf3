import { hash } from 'node:crypto';
import { Candidate, type Rank } from './candidate.ts';
import { compileHeaderConditions } from './header-condition.ts';
import { compilePathRegex } from './path-regex.ts';
import type { HostPattern, RouteConditions } from './route-conditions.ts';
import type { RoutableRoute } from './router.ts';
import { toLatin1Bytes } from './to-latin1-bytes.ts';

/** A route in the form of the index: conditions, and one candidate for each path. */
export interface CompiledRoute<R extends RoutableRoute> {
  readonly conditions: RouteConditions<R>;
  readonly placements: readonly Placement<R>[];
}

/** A candidate and its key in the path trie. */
export interface Placement<R extends RoutableRoute> {
  readonly key: string;
  readonly candidate: Candidate<R>;
}

const REGEX_PREFIX = '~';
const MAX_HEADER_COUNT = 255;
/** Namespace of the ids of split routes, as in Kong. */
const SPLIT_NAMESPACE = Buffer.from('7f145bf90dce4f9198ebdebbce4b9f6b', 'hex');

/** Throws an `Error` that names the attribute that cannot be compiled. */
export function compileRoute<R extends RoutableRoute>(route: R): CompiledRoute<R> {
  const placements: Placement<R>[] = [];
  const conditions: RouteConditions<R> = {
    route,
    hosts: orNull(route.hosts)?.map(parseHostPattern) ?? null,
    methods: orNull(route.methods),
    headers: compileHeaderConditions(route.headers),
    snis:
      orNull(route.snis)?.map((sni) => (sni.length > 1 && sni.endsWith('.') ? sni.slice(0, -1) : sni).toLowerCase()) ??
      null,
  };
  const kinds = countKinds(route);
  const plainHosts = conditions.hosts?.every(({ name }) => !name.includes('*')) ?? false;
  const base = (kinds * 2 + Number(plainHosts)) * 256 + Math.min(conditions.headers.length, MAX_HEADER_COUNT);

  const groups = groupPaths(orNull(route.paths) ?? []);
  if (groups.length === 0) {
    const rank: Rank = { high: base * 2, low: 0, id: route.id };
    placements.push({ key: '', candidate: new Candidate(conditions, rank, 0, '', null) });
  }
  groups.forEach((paths, index) => {
    const id = groups.length === 1 ? route.id : splitId(route.id, index + 1);
    addGroup(conditions, placements, paths, base, id);
  });
  return { conditions, placements };
}

function addGroup<R extends RoutableRoute>(
  conditions: RouteConditions<R>,
  placements: Placement<R>[],
  paths: readonly string[],
  base: number,
  id: string,
): void {
  if (!paths[0]!.startsWith(REGEX_PREFIX)) {
    const rank: Rank = { high: base * 2, low: paths[0]!.length, id };
    for (const path of paths) placements.push({ key: path, candidate: new Candidate(conditions, rank, 0, path, null) });
    return;
  }
  const rank: Rank = { high: base * 2 + 1, low: conditions.route.regexPriority, id };
  paths.forEach((path, order) => {
    const { key, regex } = compilePathRegex(path.slice(REGEX_PREFIX.length));
    placements.push({ key, candidate: new Candidate(conditions, rank, order, '', regex) });
  });
}

/** One group for all regular expressions and one for each length of plain paths, in order of first appearance. */
function groupPaths(paths: readonly string[]): string[][] {
  const groups = new Map<number, string[]>();
  for (const path of new Set(paths)) {
    // Regular expressions stay as written: their parser turns characters into bytes itself.
    const text = path.startsWith(REGEX_PREFIX) ? path : toLatin1Bytes(path);
    const key = text.startsWith(REGEX_PREFIX) ? 0 : text.length;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [text]);
    else group.push(text);
  }
  return [...groups.values()];
}

function countKinds(route: RoutableRoute): number {
  const lists = [route.methods, route.hosts, route.paths, route.snis, route.headers && Object.keys(route.headers)];
  return lists.filter((list) => list !== null && list.length > 0).length;
}

function parseHostPattern(host: string): HostPattern {
  const match = /^(.*):(\d{1,5})$/.exec(host);
  // An IPv6 address contains colons itself; only one in brackets can have a port.
  if (match === null || (match[1]!.includes(':') && !match[1]!.endsWith(']'))) return { name: host, port: 0 };
  return { name: match[1]!, port: Number(match[2]) };
}

/** UUIDv5 of `<route id>#<group number>`. */
function splitId(routeId: string, group: number): string {
  const digest = hash('sha1', Buffer.concat([SPLIT_NAMESPACE, Buffer.from(`${routeId}#${group}`)]), 'buffer');
  digest[6] = (digest[6]! & 0x0f) | 0x50;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  const hex = digest.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function orNull<T>(list: readonly T[] | null): readonly T[] | null {
  return list === null || list.length === 0 ? null : [...new Set(list)];
}
