import type { RoutableRoute } from '../router.ts';
import type { Random } from './random.ts';
import { type RequestParts, routeOf } from './requests.ts';

const METHODS = ['GET', 'POST', 'PUT'];
const HOSTS = ['a.com', 'b.com', 'x.a.com', '*.a.com', '*.com', 'a.*', 'x.*', 'a.com:8080', '*.a.com:80', 'x.*:8080'];
const PATHS = ['/', '/a', '/ab', '/a/', '/a/b', '/a/bc', '/a/b/c', '/b', '/abc', '/b/b'];
const REGEXES = [
  '~/a',
  '~/a/.*',
  '~/[^/]+/b',
  '~/a/(?<n>\\w+)',
  '~/a/\\w+/c$',
  '~/(a|b)/(b|c)',
  '~/.*b',
  '~/(?i)A/B',
  '~/a/b|/b',
];
const MORE_REGEXES = [
  '~/a{1,2}/?',
  '~/(?:a/)?b',
  '~/[ab]/[^/]*$',
  '~/a(?:/[^/]+)+/c',
  '~/\\w*/b',
  '~/(?:a|ab)/b',
  '~/(a/)+b',
];
const HEADER_NAMES = ['x-one', 'X_One', 'x-two', 'X-Three'];
const HEADER_VALUES = ['1', '2', 'A', '~*^a', '~*\\d'];
const SNIS = ['a.com', 'b.com.', '*.a.com', 'a.*'];

const REQUEST_HOSTS = [
  '',
  'a.com',
  'b.com',
  'x.a.com',
  'y.x.a.com',
  'a.com:8080',
  'x.a.com:80',
  'a.org',
  'x.org:8080',
  '.a.com',
  'A.com',
  'a.com:',
];
const REQUEST_PATHS = [
  '/',
  '/a',
  '/ab',
  '/abc',
  '/a/',
  '/a/b',
  '/a/bc',
  '/a/b/c',
  '/a/x/c',
  '/b/b',
  '/b',
  '/c',
  '/aa',
  '/a/a/b',
  '/a/b/',
];

export function randomRoute(random: Random, id: string): RoutableRoute {
  const headers = random.below(4) === 0 ? randomHeaders(random) : null;
  return routeOf(id, {
    methods: random.below(3) === 0 ? random.some(METHODS, 0.5) : null,
    hosts: random.below(2) === 0 ? random.some(HOSTS, 0.2) : null,
    paths: random.below(5) > 0 ? random.some([...PATHS, ...REGEXES, ...MORE_REGEXES], random.pick([0.04, 0.1])) : null,
    headers,
    snis: random.below(5) === 0 ? random.some(SNIS, 0.4) : null,
    regexPriority: random.below(3),
  });
}

function randomHeaders(random: Random): Record<string, readonly string[]> {
  const headers: Record<string, readonly string[]> = {};
  for (const name of random.some(HEADER_NAMES, 0.4)) {
    const values = random.some(HEADER_VALUES, 0.4);
    headers[name] = values.length > 0 ? values : ['1'];
  }
  return headers;
}

export function randomRequest(random: Random): RequestParts {
  const headers: Record<string, readonly string[]> = {};
  for (const name of random.some(['x-one', 'x-two', 'x-three'], 0.5))
    headers[name] = random.some(['1', 'a', 'Ab', '3'], 0.5);
  return {
    method: random.pick([...METHODS, 'DELETE']),
    host: random.pick(REQUEST_HOSTS),
    port: random.pick([80, 8080]),
    path: random.pick(REQUEST_PATHS),
    scheme: random.pick(['http', 'https']),
    sni: random.pick(['', 'a.com', 'b.com', 'x.a.com', 'c.com']),
    headers,
  };
}
