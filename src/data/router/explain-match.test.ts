import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import type { ExplainedCondition, ExplainedRoute } from './explain-match.ts';
import { createRouter } from './indexed-router.ts';
import type { RoutableRoute } from './router.ts';
import { createRandom } from './testing/random.ts';
import { randomRequest, randomRoute } from './testing/random-config.ts';
import { emptyMatch, queryOf, type RequestParts, routeOf } from './testing/requests.ts';

const everything = Number.POSITIVE_INFINITY;

function routerOf(routes: Readonly<Record<string, Partial<RoutableRoute>>>) {
  const router = createRouter<RoutableRoute>();
  for (const [id, attributes] of Object.entries(routes)) router.upsert(routeOf(id, attributes));
  return router;
}

function explain(routes: Readonly<Record<string, Partial<RoutableRoute>>>, request: RequestParts, most = everything) {
  return routerOf(routes).explain(queryOf(request), most);
}

function failure(route: ExplainedRoute<RoutableRoute> | undefined): string {
  const failed: ExplainedCondition | null = route?.failed ?? null;
  if (failed === null) return `${route?.route.id}: ${route?.outranked}`;
  return `${route?.route.id}: ${failed.kind} ${failed.wanted} is not ${failed.got}`;
}

test('it explains what the router decides, on random routes and requests, and each result holds for its route alone', () => {
  const random = createRandom();
  for (let round = 0; round < 100; round++) {
    const router = createRouter<RoutableRoute>();
    const routes = new Map<string, RoutableRoute>();
    for (let n = 1 + random.below(20); n > 0; n--) {
      const id = `${random.below(1_000_000)}`.padStart(8, '0');
      routes.set(id, randomRoute(random, id));
    }
    for (const route of routes.values()) router.upsert(route);
    for (let n = 0; n < 12; n++) {
      const request = randomRequest(random);
      const query = queryOf(request);
      const into = emptyMatch();
      router.match(query, into);
      const { matched, others, routes: count } = router.explain(query, everything);
      const why = `seed ${random.seed}, round ${round}: ${JSON.stringify(request)} on ${JSON.stringify([...routes.values()])}`;
      assert.equal(matched?.route.id ?? null, into.route?.id ?? null, why);
      assert.equal(count, routes.size);
      assert.equal(others.length + Number(matched !== null), routes.size, why);
      for (const one of others) {
        const alone = createRouter<RoutableRoute>();
        alone.upsert(one.route);
        assert.equal(alone.match(query, emptyMatch()), one.failed === null, `${one.route.id}: ${why}`);
        assert.equal(one.failed === null, one.failures === 0);
        assert.equal(one.failed === null, one.outranked !== '', why);
        assert.ok(one.met.every(({ met }) => met) && one.failed?.met !== true);
      }
    }
  }
});

test('reports the first failed condition of a route that does not match, in the order of the router', () => {
  const routes = {
    a: { hosts: ['a.com'], paths: ['/users'], methods: ['GET', 'PUT'], headers: { X_Tenant: ['one'] } },
  };
  const ask = (request: RequestParts) => failure(explain(routes, request).others[0]);
  assert.equal(ask({ host: 'b.com', path: '/orders', method: 'POST' }), 'a: host a.com is not b.com');
  assert.equal(ask({ host: 'a.com', path: '/orders', method: 'POST' }), 'a: path /users is not /orders');
  assert.equal(ask({ host: 'a.com', path: '/users/1', method: 'POST' }), 'a: method GET,PUT is not POST');
  assert.equal(ask({ host: 'a.com', path: '/users/1' }), 'a: header one is not ');
  const { matched } = explain(routes, { host: 'a.com', path: '/users/1', headers: { 'x-tenant': ['One'] } });
  assert.deepEqual(
    matched?.met.map(({ kind, name, wanted, got }) => [kind, name, wanted.join(), got.join()]),
    [
      ['host', '', 'a.com', 'a.com'],
      ['path', '', '/users', '/users/1'],
      ['method', '', 'GET,PUT', 'GET'],
      ['header', 'X_Tenant', 'one', 'One'],
    ],
  );
});

test('reports why another route outranks one that matches', () => {
  const reason = (winner: Partial<RoutableRoute>, other: Partial<RoutableRoute>, request: RequestParts) => {
    const { matched, others } = explain({ a: winner, b: other }, request);
    assert.equal(matched?.route.id, 'a');
    return others[0]?.outranked;
  };
  const request = { host: 'a.com', path: '/users/1', headers: { x: ['1'], y: ['1'] } };
  assert.equal(
    reason({ hosts: ['a.com'], paths: ['/'] }, { paths: ['/users'] }, request),
    'it has 1 kind of condition, not 2',
  );
  assert.equal(reason({ hosts: ['a.com'] }, { hosts: ['*.com'] }, request), 'hosts without a wildcard go first');
  assert.equal(
    reason({ headers: { x: ['1'], y: ['1'] } }, { headers: { x: ['1'] } }, request),
    'it asks for 1 header, not 2',
  );
  assert.equal(
    reason({ paths: ['~/users/\\d'] }, { paths: ['/users/1'] }, request),
    'a regular expression goes before a prefix',
  );
  assert.equal(
    reason({ paths: ['~/u.*'], regexPriority: 5 }, { paths: ['~/us.*'], regexPriority: 1 }, request),
    'its regex_priority is 1, not 5',
  );
  assert.equal(reason({ paths: ['/users'] }, { paths: ['/u'] }, request), 'its path has 2 characters, not 6');
  assert.equal(
    explain({ a: { paths: ['/u'] }, b: { paths: ['/u'] } }, request).others[0]?.outranked.includes('id'),
    true,
  );
});

test('the nearest come first, and no more than requested', () => {
  const routes = {
    far: { hosts: ['x.org'], paths: ['/nothing'] },
    typo: { hosts: ['a.com'], paths: ['/usrs'] },
    method: { hosts: ['a.com'], paths: ['/users'], methods: ['DELETE'] },
    other: { hosts: ['a.com'], paths: ['~/u\\d+'] },
  };
  const { matched, others, routes: count } = explain(routes, { host: 'a.com', path: '/users/1' }, 3);
  assert.equal(matched, null);
  assert.equal(count, 4);
  assert.deepEqual(
    others.map(({ route }) => route.id),
    ['method', 'typo', 'other'],
  );
  assert.equal(others[2]?.failed?.wanted[0], '~/u\\d+');
});

test('paths are shown as they were configured', () => {
  const { others } = explain({ a: { paths: ['/café', '~/é'] } }, { path: '/caf\xc3\xa8' });
  assert.deepEqual(others[0]?.failed?.wanted, ['/café']);
});

test('ten thousand routes are explained in a fraction of a second', () => {
  const router = createRouter<RoutableRoute>();
  for (let at = 0; at < 10_000; at++) {
    router.upsert(routeOf(`r${at}`, { hosts: [`h${at % 100}.test`], paths: [`/p${at}`, `~/q${at}/\\d+`] }));
  }
  const query = queryOf({ host: 'h7.test', path: '/p107/x' });
  const begun = cpuTime();
  assert.equal(router.explain(query, 20).matched?.route.id, 'r107');
  assert.ok(cpuTime() - begun < 500);
});
