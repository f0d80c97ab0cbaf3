import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouter } from './indexed-router.ts';
import { describeRouter } from './router.contract.ts';
import { createRandom } from './testing/random.ts';
import { randomRequest, randomRoute } from './testing/random-config.ts';
import { ReferenceRouter } from './testing/reference-router.ts';
import { emptyMatch, queryOf, routeOf } from './testing/requests.ts';

describeRouter('the indexed router', createRouter);
describeRouter('the reference router', () => new ReferenceRouter());

test('both routers agree on random routes, requests, changes and removals', () => {
  const random = createRandom();
  for (let round = 0; round < 400; round++) {
    const indexed = createRouter();
    const reference = new ReferenceRouter();
    const ids = Array.from({ length: 1 + random.below(30) }, () => randomId(random.below));
    const log: unknown[] = [];
    for (let step = 0; step < 8; step++) {
      for (let n = 1 + random.below(ids.length); n > 0; n--) {
        const id = random.pick(ids);
        const route = random.below(4) > 0 ? randomRoute(random, id) : null;
        log.push(route ?? id);
        for (const router of [indexed, reference]) {
          if (route === null) router.remove(id);
          else router.upsert(route);
        }
      }
      assert.equal(indexed.size, reference.size);
      for (let n = 0; n < 12; n++) {
        const request = randomRequest(random);
        const [got, expected] = [emptyMatch(), emptyMatch()];
        indexed.match(queryOf(request), got);
        reference.match(queryOf(request), expected);
        const summary = ({ route, matchedPath, captures }: typeof got) => [
          route?.id,
          matchedPath,
          captures && [...captures],
        ];
        const why = () => `seed ${random.seed}, round ${round}: ${JSON.stringify(request)} on ${JSON.stringify(log)}`;
        if (JSON.stringify(summary(got)) !== JSON.stringify(summary(expected))) assert.deepEqual(got, expected, why());
      }
    }
    for (const id of ids) indexed.remove(id);
    assert.equal(isEmptyTree(indexed), true, `nothing is left behind, seed ${random.seed}, round ${round}`);
  }
});

test('a copy of a router changes independently: the router that it comes from matches as before', () => {
  const random = createRandom();
  for (let round = 0; round < 200; round++) {
    let router = createRouter();
    const reference = new ReferenceRouter();
    const ids = Array.from({ length: 1 + random.below(30) }, () => randomId(random.below));
    for (let step = 0; step < 5; step++) {
      const requests = Array.from({ length: 12 }, () => queryOf(randomRequest(random)));
      const matches = (one: Pick<typeof router, 'match'>) =>
        requests.map((request) => {
          const into = emptyMatch();
          one.match(request, into);
          return [into.route?.id, into.matchedPath, into.captures && [...into.captures]];
        });
      const [previous, before] = [router, matches(router)];
      router = createRouter();
      for (const _ of router.copyFrom(previous));
      for (let n = 1 + random.below(ids.length); n > 0; n--) {
        const id = random.pick(ids);
        const route = random.below(4) > 0 ? randomRoute(random, id) : null;
        for (const one of [router, reference]) {
          if (route === null) one.remove(id);
          else one.upsert(route);
        }
      }
      const why = `seed ${random.seed}, round ${round}, step ${step}`;
      assert.equal(router.size, reference.size, why);
      assert.deepEqual(matches(router), matches(reference), why);
      assert.deepEqual(matches(previous), before, why);
    }
    for (const id of ids) router.remove(id);
    assert.equal(isEmptyTree(router), true, `nothing is left behind, seed ${random.seed}, round ${round}`);
  }
});

test('non-ASCII paths and header values are compared as UTF-8 bytes', () => {
  const router = createRouter();
  router.upsert(routeOf('plain', { paths: ['/café'] }));
  router.upsert(routeOf('regex', { paths: ['~/[xé]+/é$'] }));
  router.upsert(routeOf('header', { headers: { x: ['é'] } }));
  const into = emptyMatch();
  assert.equal(router.match(queryOf({ path: '/caf\xc3\xa9/x' }), into), true);
  assert.equal(into.matchedPath, '/caf\xc3\xa9');
  assert.equal(router.match(queryOf({ path: '/\xc3\xa9x/\xc3\xa9' }), into), true);
  assert.equal(into.route?.id, 'regex');
  assert.equal(router.match(queryOf({ path: '/n', headers: { x: ['\xc3\xa9'] } }), into), true);
  assert.equal(into.route?.id, 'header');
});

test('a route with very many pairs of host and path still matches all of them', () => {
  const router = createRouter();
  const hosts = Array.from({ length: 150 }, (_, i) => `h${i}.com`);
  const paths = Array.from({ length: 150 }, (_, i) => (i % 2 ? `/p${i}` : `~/r${i}/\\d$`));
  router.upsert(routeOf('a', { hosts, paths }));
  const into = emptyMatch();
  assert.equal(router.match(queryOf({ host: 'h149.com', path: '/p149/x' }), into), true);
  assert.equal(into.matchedPath, '/p149');
  assert.equal(router.match(queryOf({ host: 'h7.com', path: '/r148/5' }), into), true);
  assert.equal(router.match(queryOf({ host: 'h7.com', path: '/r148/x' }), into), false);
  router.remove('a');
  assert.equal(isEmptyTree(router), true);
});

test('many different headers are looked up by the names sent', () => {
  const router = createRouter();
  for (let i = 0; i < 50; i++) router.upsert(routeOf(`r${i}`, { headers: { [`X_H${i}`]: ['1'] } }));
  const into = emptyMatch();
  const headers = { 'x-h7': ['0', '1'], other: ['1'] };
  let asked = 0;
  const query = {
    ...queryOf({}),
    headerNames: () => Object.keys(headers),
    headerValues(name: string) {
      asked++;
      return headers[name as keyof typeof headers] ?? [];
    },
  };
  assert.equal(router.match(query, into), true);
  assert.equal(into.route?.id, 'r7');
  assert.ok(asked <= 3, `${asked} headers were read`);
});

function randomId(below: (limit: number) => number): string {
  const hex = (n: number) => Array.from({ length: n }, () => below(16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}

/** A router whose routes were all removed behaves like a new one and holds no index entries. */
function isEmptyTree(router: object): boolean {
  const seen = new Set<object>();
  const queue: object[] = [router];
  for (let object = queue.pop(); object !== undefined; object = queue.pop()) {
    if (seen.has(object)) continue;
    seen.add(object);
    if (object instanceof Map && object.size > 0) return false;
    for (const [name, value] of Object.entries(object)) {
      // Scratch space keeps the last candidates.
      if (name.startsWith('found')) continue;
      if (value !== null && typeof value === 'object') queue.push(value);
    }
    if (seen.size > 40) return false;
  }
  return true;
}
