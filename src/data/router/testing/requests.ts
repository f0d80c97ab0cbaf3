import type { RoutableRoute, RouteMatch, RouteQuery } from '../router.ts';

/** A route without conditions except the given ones. */
export function routeOf(id: string, attributes: Partial<RoutableRoute>): RoutableRoute {
  return { id, methods: null, hosts: null, paths: null, headers: null, snis: null, regexPriority: 0, ...attributes };
}

export interface RequestParts {
  readonly method?: string;
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly scheme?: 'http' | 'https';
  readonly sni?: string;
  /** By lower-case name with `-`. */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

export function queryOf(parts: RequestParts): RouteQuery {
  const headers = parts.headers ?? {};
  return {
    method: parts.method ?? 'GET',
    host: parts.host ?? '',
    port: parts.port ?? 80,
    path: parts.path ?? '/',
    scheme: parts.scheme ?? 'http',
    sni: parts.sni ?? '',
    headerValues: (name) => headers[name] ?? [],
  };
}

export function emptyMatch(): RouteMatch<RoutableRoute> {
  return { route: null, matchedPath: '', captures: null };
}
