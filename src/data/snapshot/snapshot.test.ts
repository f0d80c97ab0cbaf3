import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '../../plugin-sdk/reply.ts';
import {
  createProbe,
  createSnapshot,
  delta,
  pluginRow,
  routeAt,
  routeRow,
  serviceRow,
  targetRow,
  upstreamRow,
  withAddresses,
} from './snapshot.fixture.ts';

test('routes to a service as soon as the delta is applied', () => {
  const snapshot = createSnapshot();
  const failures = snapshot.apply(delta({ services: [serviceRow('users')], routes: [routeRow('r', 'users')] }));
  assert.deepEqual(failures, []);
  assert.equal(routeAt(snapshot, '/r')?.service?.host, 'users.test');
  assert.equal(routeAt(snapshot, '/other'), null);
});

test('shows routes the edited service, whatever the order of the rows', () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ routes: [routeRow('r', 'users')] }));
  assert.equal(routeAt(snapshot, '/r')?.service, null);
  snapshot.apply(delta({ services: [serviceRow('users')] }));
  const before = routeAt(snapshot, '/r');
  assert.equal(before?.service?.port, 80);
  snapshot.apply(delta({ services: [serviceRow('users', { port: 9000 })] }));
  assert.equal(routeAt(snapshot, '/r'), before, 'the route was not rebuilt');
  assert.equal(before?.service?.port, 9000);
  assert.equal(before?.service?.hostHeader, 'users.test:9000');
});

test('an explanation names the routes of disabled services that would match', () => {
  const snapshot = createSnapshot();
  const services = [serviceRow('s', { enabled: false }), serviceRow('on')];
  snapshot.apply(delta({ services, routes: [routeRow('r', 's'), routeRow('other', 's'), routeRow('q', 'on')] }));
  const headerValues = () => [];
  const query = { method: 'GET', host: 'a', port: 80, path: '/r', scheme: 'http', sni: '', headerValues } as const;
  const { matched, others, disabled } = snapshot.explainRoute(query, 20);
  assert.equal(matched, null);
  assert.deepEqual(
    others.map(({ route }) => route.id),
    ['q'],
  );
  assert.deepEqual(
    disabled.map(({ id }) => id),
    ['r'],
  );
});

test('does not load the routes of a disabled service', () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ services: [serviceRow('s', { enabled: false })], routes: [routeRow('r', 's')] }));
  assert.equal(routeAt(snapshot, '/r'), null);
  snapshot.apply(delta({ services: [serviceRow('s', { enabled: true })] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.id, 's');
  snapshot.apply(delta({ services: [serviceRow('s', { enabled: false })] }));
  assert.equal(routeAt(snapshot, '/r'), null);
});

test('binds a service to the upstream of its host, when it is added and when it is removed', () => {
  const snapshot = createSnapshot();
  const config = withAddresses(snapshot);
  config.apply(delta({ services: [serviceRow('s', { host: 'pool' })], routes: [routeRow('r', 's')] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.upstream, null);
  config.apply(delta({ upstreams: [upstreamRow('u', 'pool')] }));
  assert.deepEqual(routeAt(snapshot, '/r')?.service?.upstream?.targets, []);
  const targets = [
    targetRow('a', 'u', '10.0.0.1:81'),
    targetRow('b', 'u', '[::1]:82'),
    targetRow('c', 'u', 'c.test:83', 0),
  ];
  config.apply(delta({ targets }));
  const upstream = routeAt(snapshot, '/r')?.service?.upstream;
  assert.deepEqual(
    upstream?.targets.map(({ host, port }) => [host, port]),
    [
      ['10.0.0.1', 81],
      ['::1', 82],
    ],
  );
  config.apply(delta({ upstreams: [upstreamRow('u', 'renamed')] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.upstream, null);
  config.apply(delta({ upstreams: [upstreamRow('u', 'pool')] }, { targets: ['a'] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.upstream?.targets.length, 1);
  config.apply(delta({}, { upstreams: ['u'], targets: ['b', 'c'] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.upstream, null);
});

test('accepts an upstream name that another one releases in the same delta', () => {
  const snapshot = createSnapshot();
  snapshot.apply(
    delta({
      upstreams: [upstreamRow('old', 'pool')],
      services: [serviceRow('s', { host: 'pool' })],
      routes: [routeRow('r', 's')],
    }),
  );
  snapshot.apply(delta({ upstreams: [upstreamRow('new', 'pool')] }, { upstreams: ['old'] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.upstream?.id, 'new');
  snapshot.apply(delta({ upstreams: [upstreamRow('new', 'other'), upstreamRow('third', 'pool')] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.upstream?.id, 'third');
});

test('records an entity that cannot be built, and lets the rest go live', () => {
  const snapshot = createSnapshot();
  const secure = serviceRow('s', { protocol: 'https', port: 443, client_certificate: { id: 'missing' } });
  const failures = snapshot.apply(
    delta({
      services: [secure, serviceRow('fine')],
      routes: [routeRow('r', 's'), routeRow('ok', 'fine'), routeRow('wrong', 'fine', { paths: ['~/('] })],
      upstreams: [upstreamRow('u', 'pool')],
      targets: [targetRow('t', 'u', 'not an address:x')],
    }),
  );
  assert.deepEqual(failures.map(({ entity, id }) => `${entity}:${id}`).sort(), [
    'routes:wrong',
    'services:s',
    'targets:t',
  ]);
  assert.match(failures.find(({ id }) => id === 's')?.reason ?? '', /client certificate missing is missing/);
  assert.equal(routeAt(snapshot, '/r')?.service, null, 'kept in the router, so that nothing falls through it');
  assert.equal(routeAt(snapshot, '/ok')?.service?.id, 'fine');
});

test('clears a failure when the entity is fixed or removed', () => {
  const snapshot = createSnapshot();
  const secure = serviceRow('s', { protocol: 'https', port: 443, client_certificate: { id: 'c' } });
  assert.equal(
    snapshot.apply(delta({ services: [secure], routes: [routeRow('wrong', 's', { paths: ['~/('] })] })).length,
    2,
  );
  const certificate = { id: 'c', created_at: 1, cert: 'PEM', key: 'KEY' };
  assert.deepEqual(
    snapshot.apply(delta({ certificates: [certificate] })).map(({ id }) => id),
    ['wrong'],
  );
  assert.deepEqual(snapshot.apply(delta({}, { routes: ['wrong'] })), []);
  const route = routeRow('r', 's');
  snapshot.apply(delta({ routes: [route] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.tls?.cert, 'PEM');
});

test('a full delta removes what it does not contain', () => {
  const snapshot = createSnapshot();
  snapshot.apply(
    delta({ services: [serviceRow('a'), serviceRow('b')], routes: [routeRow('ra', 'a'), routeRow('rb', 'b')] }),
  );
  snapshot.apply(delta({ services: [serviceRow('b')], routes: [routeRow('rb', 'b')] }, {}, true));
  assert.equal(routeAt(snapshot, '/ra'), null);
  assert.equal(routeAt(snapshot, '/rb')?.service?.id, 'b');
  assert.equal(snapshot.router.size, 1);
});

test('moves a route to another service', () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ services: [serviceRow('a'), serviceRow('b')], routes: [routeRow('r', 'a')] }));
  snapshot.apply(delta({ routes: [routeRow('r', 'b')] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.id, 'b');
  snapshot.apply(delta({ services: [serviceRow('a', { port: 9 })] }));
  assert.equal(routeAt(snapshot, '/r')?.service?.id, 'b');
  snapshot.apply(delta({ routes: [routeRow('r', null)] }));
  assert.equal(routeAt(snapshot, '/r')?.service, null);
});

test('leaves stream routes out', () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ routes: [routeRow('r', null, { protocols: ['tcp'], paths: null, sources: [{ port: 1 }] })] }));
  assert.equal(snapshot.router.size, 0);
});

test('keeps a plugin instance while its row is the same, and disposes of the one that it replaces', () => {
  const probe = createProbe();
  const snapshot = createSnapshot(probe);
  snapshot.apply(delta({ routes: [routeRow('r', null)], plugins: [pluginRow('p', 'one')] }));
  const first = routeAt(snapshot, '/r')?.plan.access[0];
  snapshot.apply(delta({ routes: [routeRow('r', null)], plugins: [pluginRow('p', 'one')] }, {}, true));
  assert.equal(routeAt(snapshot, '/r')?.plan.access[0], first);
  assert.deepEqual(probe.events, ['setup one']);
  snapshot.apply(delta({ plugins: [pluginRow('p', 'two')] }));
  assert.notEqual(routeAt(snapshot, '/r')?.plan.access[0], first);
  assert.deepEqual(probe.events, ['setup one', 'setup two', 'dispose one']);
  snapshot.apply(delta({ plugins: [pluginRow('p', 'two', { enabled: false })] }));
  assert.equal(routeAt(snapshot, '/r')?.plan.empty, true);
  assert.deepEqual(probe.events.at(-1), 'dispose two');
});

test('requests the certificates of clients while an enabled plugin instance needs them', () => {
  const snapshot = createSnapshot();
  const apply = (mark: string, more: Readonly<Record<string, unknown>> = {}): boolean => {
    snapshot.apply(delta({ plugins: [pluginRow('p', mark, more)] }));
    return snapshot.wantsClientCertificates;
  };
  assert.equal(snapshot.wantsClientCertificates, false);
  assert.equal(apply('a'), false);
  assert.equal(apply('certificate'), true);
  assert.equal(apply('certificate', { enabled: false }), false);
  assert.equal(apply('certificate'), true);
  assert.equal(apply('b'), false);
  assert.equal(apply('certificate'), true);
  snapshot.apply(delta({}, { plugins: ['p'] }));
  assert.equal(snapshot.wantsClientCertificates, false);
});

test('gives a plan its scope: global, service, route and consumer', () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ services: [serviceRow('s')], routes: [routeRow('r', 's'), routeRow('other', null)] }));
  assert.equal(snapshot.globalPlan.empty, true);
  snapshot.apply(delta({ plugins: [pluginRow('service', 'a', { service: { id: 's' } })] }));
  assert.equal(routeAt(snapshot, '/r')?.plan.access[0]?.id, 'service');
  assert.equal(routeAt(snapshot, '/other')?.plan.empty, true);
  snapshot.apply(delta({ plugins: [pluginRow('consumer', 'b', { consumer: { id: 'jane' } })] }));
  const route = routeAt(snapshot, '/r');
  assert.ok(route);
  assert.equal(route.plan.access[0]?.id, 'service');
  assert.equal(snapshot.planFor(route, 'jane').access[0]?.id, 'consumer');
  assert.equal(snapshot.planFor(route, 'joe'), route.plan);
  snapshot.apply(delta({}, { plugins: ['service', 'consumer'] }));
  assert.equal(route.plan.empty, true);
  assert.equal(snapshot.planFor(route, 'jane').empty, true);
});

test('rejects requests in the scope of a plugin instance that cannot be set up', async () => {
  const snapshot = createSnapshot();
  const failures = snapshot.apply(
    delta({
      services: [serviceRow('s')],
      routes: [routeRow('r', 's'), routeRow('open', null)],
      plugins: [pluginRow('p', 'bad', { service: { id: 's' } }), pluginRow('q', 'x', { name: 'unknown' })],
    }),
  );
  assert.deepEqual(
    failures.map(({ id, reason }) => [id, reason]),
    [
      ['p', 'mark must not be bad'],
      ['q', "plugin 'unknown' is not enabled: add it to the 'plugins' setting"],
    ],
  );
  const access = routeAt(snapshot, '/r')?.plan.access ?? [];
  assert.deepEqual(access.map(({ id }) => id).sort(), ['p', 'q']);
  assert.deepEqual(await access[0]?.phases.access?.(undefined as never), refuse(500, 'An unexpected error occurred'));
  snapshot.apply(delta({ plugins: [pluginRow('p', 'good', { service: { id: 's' } })] }, { plugins: ['q'] }));
  assert.deepEqual(routeAt(snapshot, '/open')?.plan.empty, true);
  assert.equal(routeAt(snapshot, '/r')?.plan.access[0]?.priority, 100);
});

test('disposes of every instance when it is closed', () => {
  const probe = createProbe();
  const snapshot = createSnapshot(probe);
  snapshot.apply(delta({ plugins: [pluginRow('p', 'one'), pluginRow('q', 'two', { route: { id: 'r' } })] }));
  snapshot.close();
  assert.deepEqual(probe.events.slice(2).sort(), ['dispose one', 'dispose two']);
});
