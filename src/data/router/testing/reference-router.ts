import { createHash } from 'node:crypto';
import { compileRegex } from '../../../shared/util/linear-regex.ts';
import type { RoutableRoute, RouteMatch, RouteQuery, Router } from '../router.ts';

/** A sub-route with its priority written out, most significant first. */
interface SubRoute<R extends RoutableRoute> {
  readonly route: R;
  readonly paths: readonly string[];
  readonly priority: readonly (number | string)[];
}

/**
 * The priority rules in their simplest form: all sub-routes in one sorted list, tried one after another. The oracle for
 * the tests of the real router; paths and headers are ASCII here.
 */
export class ReferenceRouter<R extends RoutableRoute> implements Router<R> {
  private readonly routes = new Map<string, R>();
  private sorted: SubRoute<R>[] | null = null;

  get size(): number {
    return this.routes.size;
  }

  upsert(route: R): void {
    for (const path of route.paths ?? []) if (path.startsWith('~')) compileRegex(path.slice(1));
    this.routes.set(route.id, route);
    this.sorted = null;
  }

  remove(id: string): void {
    this.routes.delete(id);
    this.sorted = null;
  }

  match(query: RouteQuery, into: RouteMatch<R>): boolean {
    this.sorted ??= [...this.routes.values()].flatMap(split).sort(byPriority);
    for (const { route, paths } of this.sorted) {
      const captures = matchAttributes(route, query) ? matchPaths(paths, query.path) : null;
      if (captures === null) continue;
      into.route = route;
      into.matchedPath = captures[0] ?? '';
      into.captures = 'index' in captures ? captures : null;
      return true;
    }
    into.route = null;
    into.matchedPath = '';
    into.captures = null;
    return false;
  }
}

function split<R extends RoutableRoute>(route: R): SubRoute<R>[] {
  const groups: string[][] = [];
  for (const path of route.paths ?? []) {
    const alike = groups.find(([first]) =>
      path.startsWith('~') ? first?.startsWith('~') : !first?.startsWith('~') && first?.length === path.length,
    );
    if (alike) alike.push(path);
    else groups.push([path]);
  }
  if (groups.length === 0) groups.push([]);
  return groups.map((paths, index) => {
    const id = groups.length === 1 ? route.id : uuidV5(`${route.id}#${index + 1}`);
    return { route, paths, priority: priorityOf(route, paths, id) };
  });
}

function priorityOf(route: RoutableRoute, paths: readonly string[], id: string): readonly (number | string)[] {
  const headerCount = Object.keys(route.headers ?? {}).length;
  const lengths = [route.methods?.length, route.hosts?.length, paths.length, route.snis?.length, headerCount];
  const plainHosts = (route.hosts?.length ?? 0) > 0 && !route.hosts?.some((host) => host.includes('*'));
  const regex = paths[0]?.startsWith('~') ?? false;
  return [
    lengths.filter((length) => (length ?? 0) > 0).length,
    Number(plainHosts),
    Math.min(headerCount, 255),
    Number(regex),
    regex ? route.regexPriority : 0,
    regex ? 0 : (paths[0]?.length ?? 0),
    id,
  ];
}

function byPriority<R extends RoutableRoute>(a: SubRoute<R>, b: SubRoute<R>): number {
  for (let i = 0; i < a.priority.length; i++) {
    if (a.priority[i]! !== b.priority[i]!) return a.priority[i]! > b.priority[i]! ? -1 : 1;
  }
  return 0;
}

function uuidV5(name: string): string {
  const namespace = Buffer.from('7f145bf90dce4f9198ebdebbce4b9f6b', 'hex');
  const digest = createHash('sha1').update(namespace).update(name).digest();
  digest.writeUInt8((digest.readUInt8(6) & 15) | 80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 63) | 128, 8);
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}

function matchAttributes(route: RoutableRoute, query: RouteQuery): boolean {
  if (route.methods?.length && !route.methods.includes(query.method)) return false;
  if (route.hosts?.length && !route.hosts.some((host) => matchHost(host, query))) return false;
  if (route.snis?.length && query.scheme === 'https') {
    if (query.sni === '' || !route.snis.some((sni) => matchName(sni.replace(/(.)\.$/, '$1').toLowerCase(), query.sni)))
      return false;
  }
  return Object.entries(route.headers ?? {}).every(([name, values]) => {
    const sent = query.headerValues(name.toLowerCase().replaceAll('_', '-'));
    return sent.some((value) => values.some((allowed) => matchHeader(allowed, value)));
  });
}

function matchHeader(allowed: string, value: string): boolean {
  if (allowed.startsWith('~*')) return compileRegex(allowed.slice(2), 'i').test(value);
  return allowed.toLowerCase() === value.toLowerCase();
}

function matchHost(pattern: string, query: RouteQuery): boolean {
  if (query.host === '') return false;
  const [, name, port] = /^(.*?)(?::(\d*))?$/.exec(query.host)!;
  const [, wantedName, wantedPort] = /^(.*?)(?::(\d+))?$/.exec(pattern)!;
  if (wantedPort !== undefined && Number(wantedPort) !== (port ? Number(port) : query.port)) return false;
  return matchName(wantedName!, name!);
}

function matchName(pattern: string, name: string): boolean {
  if (pattern.startsWith('*')) return name.endsWith(pattern.slice(1));
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1));
  return pattern === name;
}

/** The match array of a regular expression, or the matched prefix alone in an array, or null. */
function matchPaths(paths: readonly string[], path: string): RegExpExecArray | [string] | null {
  if (paths.length === 0) return [''];
  for (const wanted of paths) {
    if (!wanted.startsWith('~')) {
      if (path.startsWith(wanted)) return [wanted];
      continue;
    }
    const captures = compileRegex(`^(?:${wanted.slice(1)})`).exec(path);
    if (captures !== null) return captures;
  }
  return null;
}
