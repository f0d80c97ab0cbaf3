import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProbe, createSnapshot, delta, pluginRow, routeAt, routeRow, serviceRow } from './snapshot.fixture.ts';

const onPort = { protocols: ['tcp'], paths: null, destinations: [{ ip: null, port: 5432 }] };
const query = {
  transport: 'tcp',
  sourceIp: '10.0.0.1',
  sourcePort: 1,
  destinationIp: '127.0.0.1',
  destinationPort: 5432,
  sni: '',
} as const;

test('a route of streams is in the router of streams, with its service', () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ services: [serviceRow('s')], routes: [routeRow('r', 's', onPort)] }));
  assert.equal(snapshot.streams.match(query)?.service?.host, 's.test');
  assert.equal(snapshot.router.size, 0);
  snapshot.apply(delta({ services: [serviceRow('s', { host: 'other.test' })] }));
  assert.equal(snapshot.streams.match(query)?.service?.host, 'other.test');
  snapshot.apply(delta({ services: [serviceRow('s', { enabled: false })] }));
  assert.equal(snapshot.streams.match(query), null);
  snapshot.apply(delta({ services: [serviceRow('s')] }));
  assert.equal(snapshot.streams.match(query)?.id, 'r');
  snapshot.apply(delta({}, { routes: ['r'] }));
  assert.equal(snapshot.streams.match(query), null);
});

test('a route can change from requests to streams and back', () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ services: [serviceRow('s')], routes: [routeRow('r', 's')] }));
  snapshot.apply(delta({ routes: [routeRow('r', 's', onPort)] }));
  assert.equal(routeAt(snapshot, '/r'), null);
  assert.equal(snapshot.streams.match(query)?.id, 'r');
  snapshot.apply(delta({ routes: [routeRow('r', 's')] }));
  assert.equal(routeAt(snapshot, '/r')?.id, 'r');
  assert.equal(snapshot.streams.match(query), null);
  snapshot.apply(delta({ services: [serviceRow('s')], routes: [routeRow('r2', 's', onPort)] }, {}, true));
  assert.equal(routeAt(snapshot, '/r'), null);
  assert.equal(snapshot.streams.match(query)?.id, 'r2');
});

test('a stream route that cannot be compiled is reported, and the others go live', () => {
  const snapshot = createSnapshot();
  const broken = routeRow('broken', null, { ...onPort, sources: [{ ip: '10.0.0.0/99' }] });
  const failures = snapshot.apply(delta({ routes: [broken, routeRow('r', null, onPort)] }));
  assert.deepEqual(
    failures.map(({ entity, id }) => `${entity}:${id}`),
    ['routes:broken'],
  );
  assert.equal(snapshot.streams.match(query)?.id, 'r');
});

test('plugins run on streams, on requests or on both, as their protocols say', () => {
  const snapshot = createSnapshot(createProbe());
  const routes = [routeRow('r', null), routeRow('s', null, onPort)];
  const marksOf = (): readonly (readonly string[])[] => [
    routeAt(snapshot, '/r')?.plan.all.map((instance) => instance.id) ?? [],
    snapshot.streams.match(query)?.plan.all.map((instance) => instance.id) ?? [],
  ];
  snapshot.apply(delta({ routes, plugins: [pluginRow('p', 'a')] }));
  assert.deepEqual(marksOf(), [['p'], []]);
  snapshot.apply(delta({ plugins: [pluginRow('p', 'a', { protocols: ['tcp'] })] }));
  assert.deepEqual(marksOf(), [[], ['p']]);
  snapshot.apply(delta({ plugins: [pluginRow('p', 'a', { protocols: ['http', 'tls'] })] }));
  assert.deepEqual(marksOf(), [['p'], ['p']]);
  snapshot.apply(delta({}, { plugins: ['p'] }));
  assert.deepEqual(marksOf(), [[], []]);
});
