import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRandom } from '../router/testing/random.ts';
import {
  createProbe,
  createSnapshot,
  delta,
  pluginRow,
  routeAt,
  routeRow,
  serviceRow,
  upstreamRow,
} from './snapshot.fixture.ts';
import type { LiveSnapshot } from './snapshot.ts';

const many = Array.from({ length: 4000 }, (_, i) => i);

test('a large change takes effect at its end, in one moment', async () => {
  const snapshot = createSnapshot();
  snapshot.apply(delta({ services: [serviceRow('old')], routes: [routeRow('gone', 'old'), routeRow('kept', 'old')] }));
  const change = delta(
    {
      services: many.map((i) => serviceRow(`s${i}`)),
      routes: many.map((i) => routeRow(`r${i}`, `s${i}`)),
    },
    { routes: ['gone'] },
  );
  let pauses = 0;
  const failures = await snapshot.applyInPieces(change, null, async () => {
    pauses++;
    assert.equal(routeAt(snapshot, '/r0'), null);
    assert.equal(routeAt(snapshot, '/gone')?.id, 'gone');
    assert.notEqual(snapshot.version, change.version);
    await nextTurn();
  });
  assert.ok(pauses > 0);
  assert.deepEqual(failures, []);
  assert.equal(routeAt(snapshot, '/gone'), null);
  assert.equal(routeAt(snapshot, '/kept')?.service?.id, 'old');
  assert.equal(routeAt(snapshot, '/r3999')?.service?.id, 's3999');
  assert.equal(snapshot.version, change.version);
});

test('a change in pieces leads to the same snapshot as one in place', async () => {
  const changes = [
    delta({
      upstreams: [upstreamRow('u', 'pool')],
      services: [serviceRow('a', { host: 'pool' }), serviceRow('b', { enabled: false }), serviceRow('c')],
      routes: [routeRow('ra', 'a'), routeRow('rb', 'b'), routeRow('bad', 'c', { paths: ['~/('] })],
      plugins: [pluginRow('p', 'bad')],
    }),
    delta({ services: [serviceRow('b')], routes: [routeRow('bad', 'c')] }, { upstreams: ['u'] }),
    delta({ services: [serviceRow('c')], plugins: [pluginRow('p', 'good')] }, {}, true),
    delta({ routes: [routeRow('rc', 'c'), routeRow('rd', 'missing')] }),
  ];
  const [inPlace, inPieces] = [createSnapshot(), createSnapshot()];
  for (const change of changes) {
    const expected = inPlace.apply(change);
    const failures = await inPieces.applyInPieces(change, null, nextTurn);
    const sorted = (list: typeof failures) => list.toSorted((x, y) => x.id.localeCompare(y.id));
    assert.deepEqual(sorted(failures), sorted(expected));
    for (const path of ['/ra', '/rb', '/bad', '/rc', '/rd']) {
      const [x, y] = [routeAt(inPlace, path), routeAt(inPieces, path)];
      assert.deepEqual(
        [y?.id, y?.service?.id, y?.service?.host, y?.service?.upstream?.id, y?.plan.access.length],
        [x?.id, x?.service?.id, x?.service?.host, x?.service?.upstream?.id, x?.plan.access.length],
      );
    }
  }
});

test('random changes in pieces lead to the same snapshot as in place, and until then nothing of the old one changes', async (t) => {
  const random = createRandom();
  // Each step is then a piece.
  let clock = 0;
  t.mock.method(performance, 'now', () => (clock += 1000));
  const ids = (kind: string, count: number) => Array.from({ length: count }, (_, i) => `${kind}${i}`);
  const [upstreams, services, routes] = [ids('u', 3), ids('s', 12), ids('r', 20)] as const;
  const some = (list: readonly string[]) => list.filter(() => random.below(3) === 0);
  const seen = (snapshot: LiveSnapshot) =>
    routes.flatMap((id) => [
      [routeAt(snapshot, `/${id}`), routeAt(snapshot, `/${id}/other`)].map((route) => [
        ...[route?.id, route?.tags, route?.service?.id, route?.service?.host, route?.service?.retries],
        ...[route?.service?.upstream?.id, route?.service?.upstream?.hostHeader, route?.service?.tls?.identity],
      ]),
    ]);
  for (let round = 0; round < 20; round++) {
    const [inPlace, inPieces] = [createSnapshot(), createSnapshot()];
    for (let step = 0; step < 8; step++) {
      const removed = { upstreams: some(upstreams), services: some(services), routes: some(routes) };
      const kept = (list: readonly string[], gone: readonly string[]) => some(list).filter((id) => !gone.includes(id));
      const change = delta(
        {
          upstreams: kept(upstreams, removed.upstreams).map((id) =>
            upstreamRow(id, random.pick([id, `${id}-renamed`]), { host_header: String(step) }),
          ),
          services: kept(services, removed.services).map((id) =>
            serviceRow(id, {
              host: random.pick([...upstreams, 'u1-renamed', 'other.test']),
              protocol: random.pick(['http', 'https']),
              retries: random.below(3),
              enabled: random.below(5) > 0,
              ca_certificates: random.below(8) === 0 ? ['missing'] : null,
              tls_verify: true,
            }),
          ),
          routes: kept(routes, removed.routes).map((id) =>
            routeRow(id, random.pick(services), {
              paths: random.below(8) === 0 ? ['~/('] : [`/${id}`, `/${random.pick(routes)}/other`],
              tags: [String(step)],
            }),
          ),
        },
        removed,
        random.below(10) === 0,
      );
      const why = `seed ${random.seed}, round ${round}, step ${step}`;
      const before = seen(inPieces);
      const expected = inPlace.apply(change);
      let pauses = 0;
      const failures = await inPieces.applyInPieces(change, null, async () => {
        pauses++;
        assert.deepEqual(seen(inPieces), before, why);
      });
      const sorted = (list: typeof failures) =>
        list.toSorted((x, y) => `${x.entity}${x.id}`.localeCompare(`${y.entity}${y.id}`));
      assert.deepEqual(sorted(failures), sorted(expected), why);
      assert.deepEqual(seen(inPieces), seen(inPlace), why);
      assert.ok(pauses > 0, why);
    }
  }
});

test('the work of a large change depends on the change, not on the size of the config', async (t) => {
  // Each step is then a piece.
  let clock = 0;
  t.mock.method(performance, 'now', () => (clock += 1000));
  const stepsIn = async (size: number): Promise<number> => {
    const snapshot = createSnapshot();
    const rows = Array.from({ length: size }, (_, i) => i);
    snapshot.apply(
      delta({
        services: rows.map((i) => serviceRow(`s${i}`)),
        routes: rows.map((i) => routeRow(`r${i}`, `s${i}`)),
      }),
    );
    const changed = rows.slice(0, 500);
    const change = delta({
      services: changed.map((i) => serviceRow(`s${i}`, { retries: 1 })),
      routes: changed.map((i) => routeRow(`r${i}`, `s${i}`, { tags: ['new'] })),
    });
    let steps = 0;
    await snapshot.applyInPieces(change, null, async () => {
      steps++;
    });
    assert.deepEqual(routeAt(snapshot, '/r7')?.tags, ['new']);
    assert.deepEqual(routeAt(snapshot, `/r${size - 1}`)?.tags, []);
    return steps;
  };
  const [small, large] = [await stepsIn(1000), await stepsIn(9000)];
  assert.ok(small > 1000, `${small}`);
  // What does not change is copied, hundreds of entries in a step.
  assert.ok(large < small + 16_000 / 20, `${small} steps, ${large} in the large config`);
});

test('instances of plugins are set up before a change in pieces takes effect, and keep their state', async () => {
  const probe = createProbe();
  const snapshot = createSnapshot(probe);
  snapshot.apply(delta({ plugins: [pluginRow('a', 'a'), pluginRow('b', 'b')] }));
  assert.deepEqual(probe.events, ['setup a', 'setup b']);
  const services = many.map((i) => serviceRow(`s${i}`));
  await snapshot.applyInPieces(
    delta({ services, plugins: [pluginRow('a', 'a'), pluginRow('b', 'c')] }),
    null,
    nextTurn,
  );
  assert.deepEqual(probe.events, ['setup a', 'setup b', 'setup c', 'dispose b']);
  const closed = snapshot.applyInPieces(delta({ services, plugins: [pluginRow('a', 'd')] }), null, nextTurn);
  snapshot.close();
  await closed;
  assert.deepEqual(probe.events.slice(4).sort(), ['dispose a', 'dispose c', 'dispose d', 'setup d']);
});
