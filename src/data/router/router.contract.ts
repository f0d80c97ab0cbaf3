import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RoutableRoute, Router } from './router.ts';
import { emptyMatch, queryOf, type RequestParts, routeOf } from './testing/requests.ts';

/** Routes by short id, a request, the id that wins (or null) and, where it says more, the matched path. */
type Case = readonly [
  what: string,
  routes: Readonly<Record<string, Partial<RoutableRoute>>>,
  request: RequestParts,
  winner: string | null,
  matchedPath?: string,
];

const CASES: readonly Case[] = [
  [
    'a plain host beats a path',
    { a: { hosts: ['a.com'] }, b: { paths: ['/'] } },
    { host: 'a.com', path: '/x' },
    'a',
    '',
  ],
  [
    'more headers beat a path',
    { a: { hosts: ['a.com'], paths: ['/'] }, b: { hosts: ['a.com'], headers: { x: ['1'] } } },
    { host: 'a.com', headers: { x: ['1'] } },
    'b',
  ],
  [
    'a regular expression that does not match is skipped',
    { a: { paths: ['/users/profile'] }, b: { paths: ['~/users/\\d+'] } },
    { path: '/users/profile' },
    'a',
  ],
  [
    'a regular expression beats a prefix',
    { a: { paths: ['/api/v1'] }, b: { paths: ['~/api/.*'] } },
    { path: '/api/v1' },
    'b',
  ],
  [
    'regex_priority decides between regular expressions',
    { a: { paths: ['~/a/.*'] }, b: { paths: ['~/a/b'], regexPriority: 10 } },
    { path: '/a/b' },
    'b',
  ],
  ['the longer prefix wins', { a: { paths: ['/a'] }, b: { paths: ['/a/b'] } }, { path: '/a/b/c' }, 'b', '/a/b'],
  [
    'a plain host comes before path length',
    { a: { hosts: ['*.a.com'], paths: ['/long/path'] }, b: { hosts: ['x.a.com'], paths: ['/'] } },
    { host: 'x.a.com', path: '/long/path' },
    'b',
  ],
  [
    'more kinds of attributes come first',
    { a: { methods: ['GET'], paths: ['/'] }, b: { paths: ['/very/long'] } },
    { path: '/very/long' },
    'a',
  ],
  [
    'one wildcard among the hosts clears the plain-host bit',
    { a: { hosts: ['a.com', '*.b.com'] }, b: { hosts: ['a.com'] } },
    { host: 'a.com' },
    'b',
  ],
  ['of equals the larger id wins', { a: { paths: ['/x'] }, b: { paths: ['/x'] } }, { path: '/x' }, 'b'],
  [
    'regex_priority is ignored for plain paths',
    { a: { paths: ['/x'], regexPriority: 9 }, b: { paths: ['/x'] } },
    { path: '/x' },
    'b',
  ],
  ['a prefix is a string prefix', { a: { paths: ['/route'] } }, { path: '/routereq' }, 'a', '/route'],
  ['a trailing slash is significant', { a: { paths: ['/route/'] } }, { path: '/route' }, null],
  ['case is significant', { a: { paths: ['/admin'] } }, { path: '/ADMIN' }, null],
  [
    'each path counts by its own length',
    { a: { paths: ['/a', '/a/b/c'] }, b: { paths: ['/a/b'] } },
    { path: '/a/x' },
    'a',
    '/a',
  ],
  ['the longest own path is the matched one', { a: { paths: ['/a', '/a/b/c'] } }, { path: '/a/b/c/d' }, 'a', '/a/b/c'],
  ['methods are exact', { a: { methods: ['POST'] } }, { method: 'post' }, null],
  ['empty lists do not restrict', { a: { methods: [], hosts: [], paths: [], headers: {}, snis: [] } }, {}, 'a'],
  ['no Host means no host route', { a: { hosts: ['*.com'] }, b: {} }, { host: '' }, 'b'],
  ['hosts are compared as sent', { a: { hosts: ['a.com'] } }, { host: 'A.com' }, null],
  ['a host without port matches any port', { a: { hosts: ['a.com'] } }, { host: 'a.com:9000' }, 'a'],
  [
    'a port in the route is compared with the one sent',
    { a: { hosts: ['a.com:8080'] } },
    { host: 'a.com:8080', port: 80 },
    'a',
  ],
  ['another port sent does not match', { a: { hosts: ['a.com:8080'] } }, { host: 'a.com:81', port: 8080 }, null],
  [
    'without a port in Host the port of the listener is used',
    { a: { hosts: ['a.com:8080'] } },
    { host: 'a.com', port: 8080 },
    'a',
  ],
  ['a left wildcard spans several labels', { a: { hosts: ['*.example.com'] } }, { host: 'a.b.example.com' }, 'a'],
  ['a left wildcard needs the dot', { a: { hosts: ['*.example.com'] } }, { host: 'anexample.com' }, null],
  ['a left wildcard does not match the bare name', { a: { hosts: ['*.example.com'] } }, { host: 'example.com' }, null],
  ['a right wildcard', { a: { hosts: ['example.*'] } }, { host: 'example.co.uk:80' }, 'a'],
  ['a wildcard with a port', { a: { hosts: ['*.a.com:81'] } }, { host: 'x.a.com:81' }, 'a'],
  ['an IPv6 host with a port', { a: { hosts: ['[::1]:81'] } }, { host: '[::1]:81' }, 'a'],
  ['an IPv6 host without a port', { a: { hosts: ['[::1]'] } }, { host: '[::1]:81' }, 'a'],
  [
    'header names ignore case and underscores',
    { a: { headers: { X_My_Head: ['v'] } } },
    { headers: { 'x-my-head': ['v'] } },
    'a',
  ],
  ['header values ignore case', { a: { headers: { x: ['Ab', 'c'] } } }, { headers: { x: ['aB'] } }, 'a'],
  ['any of repeated headers may match', { a: { headers: { x: ['2'] } } }, { headers: { x: ['1', '2'] } }, 'a'],
  ['all header names must match', { a: { headers: { x: ['1'], y: ['1'] } } }, { headers: { x: ['1'] } }, null],
  [
    'a header pattern ignores case and is unanchored',
    { a: { headers: { x: ['~*b\\d'] } } },
    { headers: { x: ['aB1c'] } },
    'a',
  ],
  ['a header pattern that does not match', { a: { headers: { x: ['~*b\\d'] } } }, { headers: { x: ['abc'] } }, null],
  ['a header that is absent', { a: { headers: { x: ['~*.*'] } } }, {}, null],
  ['a server name', { a: { snis: ['a.com.'] } }, { scheme: 'https', sni: 'a.com' }, 'a'],
  ['another server name', { a: { snis: ['a.com'] } }, { scheme: 'https', sni: 'b.com' }, null],
  ['no server name over https', { a: { snis: ['*.com'] } }, { scheme: 'https' }, null],
  ['a server name does not restrict plain http', { a: { snis: ['a.com'] } }, { scheme: 'http' }, 'a'],
  ['a server name wildcard', { a: { snis: ['*.a.com'] } }, { scheme: 'https', sni: 'x.a.com' }, 'a'],
  ['a regular expression is anchored at the beginning', { a: { paths: ['~/b'] } }, { path: '/a/b' }, null],
  ['all its alternatives are', { a: { paths: ['~/x|/b'] } }, { path: '/a/b' }, null],
  ['it is not anchored at the end', { a: { paths: ['~/a/\\d+'] } }, { path: '/a/12x/y' }, 'a', '/a/12'],
  [
    'its whole match is the matched path',
    { a: { paths: ['~/v\\d/(?<kind>\\w+)'] } },
    { path: '/v1/users/2' },
    'a',
    '/v1/users',
  ],
  [
    'of several the first that matches gives the match',
    { a: { paths: ['~/a/b', '~/a/b/c'] } },
    { path: '/a/b/c' },
    'a',
    '/a/b',
  ],
];

/** The behaviour every router shares. */
export function describeRouter(name: string, createRouter: () => Router<RoutableRoute>): void {
  describe(name, () => {
    for (const [what, routes, request, winner, matchedPath] of CASES) {
      test(what, () => {
        for (const ids of [Object.keys(routes), Object.keys(routes).reverse()]) {
          const router = createRouter();
          for (const id of ids) router.upsert(routeOf(id, routes[id]!));
          const into = emptyMatch();
          assert.equal(router.match(queryOf(request), into), winner !== null);
          assert.equal(into.route?.id ?? null, winner);
          if (matchedPath !== undefined) assert.equal(into.matchedPath, matchedPath);
        }
      });
    }

    test('returns the captures of a regular expression, and null for anything else', () => {
      const router = createRouter();
      router.upsert(routeOf('a', { paths: ['~/users/(?P<id>\\d+)/(\\w+)'] }));
      router.upsert(routeOf('b', { paths: ['/plain'] }));
      const into = emptyMatch();
      router.match(queryOf({ path: '/users/12/orders' }), into);
      assert.deepEqual([...into.captures!], ['/users/12/orders', '12', 'orders']);
      assert.equal(into.captures?.groups?.['id'], '12');
      router.match(queryOf({ path: '/plain' }), into);
      assert.equal(into.captures, null);
      assert.equal(router.match(queryOf({ path: '/none' }), into), false);
      assert.deepEqual(into, emptyMatch());
    });

    test('a split route ties by the derived ids of its sub-routes', () => {
      // UUIDv5 of `<id>#<group>`: the derived ids, not the ids of the routes, decide.
      const router = createRouter();
      const ids = Array.from({ length: 20 }, (_, i) => `00000000-0000-4000-8000-0000000000${10 + i}`);
      for (const id of ids) router.upsert(routeOf(id, { paths: ['/one', '/three'] }));
      const into = emptyMatch();
      router.match(queryOf({ path: '/one' }), into);
      const one = into.route?.id;
      router.match(queryOf({ path: '/three' }), into);
      assert.deepEqual([one, into.route?.id], [DERIVED_TIE.one, DERIVED_TIE.three]);
    });

    test('an upsert replaces, a removal removes, and size follows', () => {
      const router = createRouter();
      const into = emptyMatch();
      router.upsert(routeOf('a', { paths: ['/x'], hosts: ['a.com', '*.a.com'], methods: ['GET', 'PUT'] }));
      router.upsert(routeOf('a', { paths: ['/y'] }));
      assert.equal(router.size, 1);
      assert.equal(router.match(queryOf({ host: 'a.com', path: '/x' }), into), false);
      assert.equal(router.match(queryOf({ path: '/y' }), into), true);
      router.remove('a');
      router.remove('a');
      assert.equal(router.size, 0);
      assert.equal(router.match(queryOf({ path: '/y' }), into), false);
    });

    test('rejects a route that cannot be compiled, with the reason, and keeps the existing one of that id', () => {
      const router = createRouter();
      router.upsert(routeOf('a', { paths: ['/x'] }));
      assert.throws(() => router.upsert(routeOf('a', { paths: ['~/(?=x)'] })), /look-around/);
      assert.equal(router.match(queryOf({ path: '/x' }), emptyMatch()), true);
    });
  });
}

/** The ids whose UUIDv5 of `<id>#1` and `<id>#2` are the largest, computed with another implementation. */
const DERIVED_TIE = { one: '00000000-0000-4000-8000-000000000013', three: '00000000-0000-4000-8000-000000000020' };
