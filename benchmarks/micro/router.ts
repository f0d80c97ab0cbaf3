/**
 * Nanoseconds per match for several shapes of routes and numbers of them, and microseconds per change at 10,000 routes.
 * Run: node benchmarks/micro/router.ts
 */
import { createRouter } from '../../src/data/router/indexed-router.ts';
import type { RoutableRoute, RouteMatch, RouteQuery, Router } from '../../src/data/router/router.ts';

interface Shape {
  readonly name: string;
  /** The i-th of n routes. */
  route(i: number): Partial<RoutableRoute>;
  /** A request for the i-th route. */
  request(i: number): Partial<RouteQuery>;
}

const SHAPES: readonly Shape[] = [
  {
    name: 'path prefix',
    route: (i) => ({ paths: [`/api/service-${i}/`] }),
    request: (i) => ({ path: `/api/service-${i}/items/42` }),
  },
  {
    name: 'one host, path, methods',
    route: (i) => ({ hosts: ['api.example.com'], methods: ['GET', 'POST'], paths: [`/v1/service-${i}/`] }),
    request: (i) => ({ host: 'api.example.com', path: `/v1/service-${i}/items/42` }),
  },
  {
    name: 'a host each, path /',
    route: (i) => ({ hosts: [`h${i}.example.com`], paths: ['/'] }),
    request: (i) => ({ host: `h${i}.example.com`, path: '/items/42' }),
  },
  {
    name: 'a wildcard host each',
    route: (i) => ({ hosts: [`*.h${i}.example.com`], paths: ['/'] }),
    request: (i) => ({ host: `www.h${i}.example.com`, path: '/items/42' }),
  },
  {
    name: 'regex, own literal prefix',
    route: (i) => ({ paths: [`~/service-${i}/(?<id>\\d+)$`] }),
    request: (i) => ({ path: `/service-${i}/42` }),
  },
  {
    name: 'regex, own literal behind a parameter',
    route: (i) => ({ paths: [`~/users/(?<id>[^/]+)/kind-${i}$`] }),
    request: (i) => ({ path: `/users/42/kind-${i}` }),
  },
  {
    name: 'one path, a header value each',
    route: (i) => ({ paths: ['/api'], headers: { 'x-tenant': [`t${i}`] } }),
    request: (i) => ({ path: '/api/items/42', headerValues: () => [`t${i}`] }),
  },
  {
    name: 'one path, a server name each',
    route: (i) => ({ paths: ['/api'], snis: [`h${i}.example.com`] }),
    request: (i) => ({ path: '/api/items', scheme: 'https', sni: `h${i}.example.com` }),
  },
];

const COUNTS = [1, 10, 1000, 10_000];
const MATCHES = 400_000;

function routeOf(shape: Shape, i: number): RoutableRoute {
  const id = `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;
  return {
    id,
    methods: null,
    hosts: null,
    paths: null,
    headers: null,
    snis: null,
    regexPriority: 0,
    ...shape.route(i),
  };
}

/** As the wire engine makes it: texts are slices of one head. */
class Query implements RouteQuery {
  readonly method: string = 'GET';
  readonly host: string;
  readonly port = 8000;
  readonly path: string;
  readonly scheme: 'http' | 'https';
  readonly sni: string;
  private readonly values: () => readonly string[];

  constructor({ host = '', path = '/', scheme = 'http', sni = '', headerValues }: Partial<RouteQuery>) {
    const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    this.path = head.slice(4, 4 + path.length);
    this.host = host === '' ? '' : head.slice(head.indexOf('Host: ') + 6, -4);
    this.scheme = scheme;
    this.sni = sni;
    this.values = headerValues === undefined ? () => [] : () => headerValues('');
  }

  headerValues(): readonly string[] {
    return this.values();
  }
}

function nanosecondsPerMatch(router: Router<RoutableRoute>, queries: readonly RouteQuery[]): number {
  const into: RouteMatch<RoutableRoute> = { route: null, matchedPath: '', captures: null };
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 4; turn++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < MATCHES; i++) {
      if (!router.match(queries[i % queries.length]!, into)) throw new Error('a request met no route');
    }
    best = Math.min(best, Number(process.hrtime.bigint() - start) / MATCHES);
  }
  return best;
}

/** What 20,000 matches leave on the young heap; a collection in between would show as a negative number. */
function bytesPerMatch(): number {
  const [shape] = SHAPES as [Shape];
  const router = createRouter<RoutableRoute>();
  for (let i = 0; i < 1000; i++) router.upsert(routeOf(shape, i));
  const queries = [new Query(shape.request(7))];
  nanosecondsPerMatch(router, queries);
  const into: RouteMatch<RoutableRoute> = { route: null, matchedPath: '', captures: null };
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 20_000; i++) router.match(queries[0]!, into);
  return (process.memoryUsage().heapUsed - before) / 20_000;
}

function microsecondsPerChange(router: Router<RoutableRoute>, routes: readonly RoutableRoute[]): string {
  const sample = routes.filter((_, i) => i % Math.ceil(routes.length / 1000) === 0);
  const times: number[] = [];
  for (const route of sample) {
    const start = process.hrtime.bigint();
    router.remove(route.id);
    router.upsert(route);
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)]!.toFixed(1);
  return `${at(0.5)} / ${at(0.99)}`;
}

function run(): void {
  const lines = [
    `${'ns per match, by number of routes'.padEnd(40)}${COUNTS.map((n) => String(n).padStart(8)).join('')}   change at 10,000: µs p50 / p99`,
  ];
  for (const shape of SHAPES) {
    let line = shape.name.padEnd(40);
    let change = '';
    for (const count of COUNTS) {
      const router = createRouter<RoutableRoute>();
      const routes = Array.from({ length: count }, (_, i) => routeOf(shape, i));
      for (const route of routes) router.upsert(route);
      // At most 16 different requests, spread over all routes: what grows is the number of routes that do not match.
      const queries = Array.from(
        { length: Math.min(count, 16) },
        (_, i) => new Query(shape.request(Math.floor((i * count) / 16) % count)),
      );
      line += nanosecondsPerMatch(router, queries).toFixed(0).padStart(8);
      change = microsecondsPerChange(router, routes);
    }
    lines.push(`${line}   ${change}`);
  }
  lines.push(`allocated per match of a path prefix: ${bytesPerMatch().toFixed(1)} bytes`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

run();
