import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { startStallingProxy } from '../../../test/support/stalling-proxy.ts';
import { until } from '../../../test/support/until.ts';
import { serviceRow } from '../../data/snapshot/snapshot.fixture.ts';
import { CachedRows } from '../lookup/cached-rows.ts';
import { readManyRows, readRows } from '../lookup/call-handler.ts';
import type { Publisher } from '../publish/publisher.ts';
import { type Store, StoreError } from '../store/store.ts';
import { authority, HybridRig, sharedSettings, testTimes } from './hybrid-rig.fixture.ts';

after(() => authority[Symbol.dispose]());

function insertService(store: Store, name: string, id: string = randomUUID()): Promise<{ readonly version: number }> {
  return store.write((writer) => writer.insert('services', serviceRow(id, { name })));
}

function insertConsumer(store: Store, username: string): Promise<{ readonly version: number }> {
  const row = { id: randomUUID(), created_at: 0, username, custom_id: null, tags: null };
  return store.write((writer) => writer.insert('consumers', row));
}

function namesOf(publisher: Publisher): readonly unknown[] {
  return (publisher.config().upserts.services ?? []).map((row) => row['name']).sort();
}

/** The store, with functions that the test replaces. */
function withFunctions(store: Store, functions: Partial<Store>): Store {
  return new Proxy(store, { get: (target, name) => Reflect.get(name in functions ? functions : target, name) });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.detail.kind === 'unavailable';
}

test('a data plane gets the whole config once, and then each change', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  await insertService(control.store, 'first');
  const { store, id } = rig.dataPlane(sharedSettings([control.address]));
  const publisher = await rig.follow(store);
  assert.deepEqual(namesOf(publisher), ['first']);
  const { version } = await insertService(control.store, 'second');
  assert.ok(await publisher.reached(version, 5000));
  assert.deepEqual(namesOf(publisher), ['first', 'second']);
  assert.deepEqual(publisher.position, await control.store.position());
  store.acknowledge(version);
  await until(() => control.server.dataPlanes()[0]?.configVersion === version);
  const [seen] = control.server.dataPlanes();
  assert.deepEqual([seen?.id, seen?.hostname, seen?.refused], [id, 'data.test', null]);
  assert.equal(store.connectedTo, control.address);
});

test('a data plane that starts with a copy receives only what has changed since', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  await insertService(control.store, 'first');
  const copy = await control.store.dump(['services']);
  await insertService(control.store, 'second');
  const { store } = rig.dataPlane(sharedSettings([control.address]), { position: copy });
  await store.ping();
  await until(async () => (await store.changesSince(copy, 100)) !== null && store.currentAt > 0);
  const batch = await store.changesSince(copy, 100);
  assert.ok(typeof batch !== 'string');
  assert.deepEqual(
    batch.changes.map(({ row }) => row?.['name']),
    ['second'],
  );
  assert.deepEqual(batch.position, await control.store.position());
});

test('a copy of another history is replaced by the whole config', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  await insertService(control.store, 'real');
  const real = await control.store.position();
  for (const position of [
    { ...real, store: randomUUID() },
    { ...real, stamp: randomUUID() },
    { ...real, version: real.version + 10 },
  ]) {
    const { store } = rig.dataPlane(sharedSettings([control.address]), { position });
    await until(async () => typeof (await store.changesSince(position, 100).catch(() => null)) === 'string');
    const dump = await store.dump(['services']);
    assert.deepEqual(
      dump.entities['services']?.map((row) => row['name']),
      ['real'],
    );
    assert.equal(dump.version, real.version);
  }
});

test('changes are pushed with what a data plane may see of them', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  const { store } = rig.dataPlane(sharedSettings([control.address]));
  const { position } = await rig.follow(store);
  await control.store.write(async (writer) => {
    const user = { id: randomUUID(), created_at: 0, name: 'root', tags: null, enabled: true };
    await writer.insert('admin_users', user);
    await writer.insert('consumers', {
      id: randomUUID(),
      created_at: 0,
      username: 'ada',
      custom_id: null,
      tags: ['x'],
    });
  });
  await until(async () => (await store.version()) > position.version);
  const batch = await store.changesSince(position, 100);
  assert.ok(typeof batch !== 'string');
  assert.deepEqual(
    batch.changes.map(({ entity, row }) => [entity, { ...row, id: '' }]),
    [['consumers', { id: '', created_at: batch.changes[0]?.row?.created_at, username: 'ada' }]],
  );
});

test('calls go on while a data plane moves from a control plane that stops to another', async () => {
  await using rig = new HybridRig();
  const store = await rig.openStore();
  const [first, second] = [await rig.controlPlane({ store }), await rig.controlPlane({ store })];
  const data = rig.dataPlane(sharedSettings([first.address, second.address]));
  const publisher = await rig.follow(data.store);
  assert.equal(data.store.connectedTo, first.address);
  let calls = 0;
  let stopped = false;
  const calling = (async () => {
    while (!stopped) {
      assert.equal(await data.store.count('consumers'), 0);
      calls++;
    }
  })();
  await first.close();
  assert.equal(data.store.connectedTo, second.address);
  const before = calls;
  await until(() => calls > before);
  stopped = true;
  await calling;
  const { version } = await insertService(store, 'later');
  assert.ok(await publisher.reached(version, 5000));
});

test('a control plane that hangs is left for another one, and calls fail with a deadline', async () => {
  await using rig = new HybridRig();
  const store = await rig.openStore();
  const [first, second] = [await rig.controlPlane({ store }), await rig.controlPlane({ store })];
  const [host = '', port] = first.address.split(':');
  await using proxy = await startStallingProxy({ host, port: Number(port) });
  const settings = { ...sharedSettings([`127.0.0.1:${proxy.port}`, second.address]), timeout: 1500 };
  const data = rig.dataPlane(settings, { times: { ...testTimes, silence: 4000 } });
  await data.store.ping();
  proxy.stall();
  await assert.rejects(data.store.count('consumers'), isUnavailable);
  await until(() => data.store.connectedTo === second.address);
  assert.equal(await data.store.count('consumers'), 0);
});

test('a data plane comes back when its only control plane does, without the whole config', async () => {
  await using rig = new HybridRig();
  const store = await rig.openStore();
  const first = await rig.controlPlane({ store });
  const data = rig.dataPlane(sharedSettings([first.address]));
  const publisher = await rig.follow(data.store);
  await first.close();
  await until(() => data.store.connectedTo === null);
  await assert.rejects(data.store.changesSince(publisher.position, 10), isUnavailable);
  const { version } = await insertService(store, 'meanwhile');
  const position = { ...publisher.position };
  await rig.controlPlane({ store, port: Number(first.address.split(':')[1]) });
  await until(async () => typeof (await data.store.changesSince(position, 10).catch(() => '')) !== 'string');
  assert.ok(await publisher.reached(version, 5000));
  assert.deepEqual(namesOf(publisher), ['meanwhile']);
});

test('without a control plane every function fails soon, with the reason', async () => {
  await using rig = new HybridRig();
  const { store } = rig.dataPlane({ ...sharedSettings(['127.0.0.1:1']), timeout: 300 });
  const outcomes = await Promise.allSettled([
    store.ping(),
    store.get('services', 'x'),
    store.dump(['services']),
    store.write((writer) => writer.count('services')),
  ]);
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && isUnavailable(outcome.reason), outcome.status);
    assert.match(String(outcome.reason), /127\.0\.0\.1:1 cannot be used: connect ECONNREFUSED/);
  }
});

test('a data plane without a common version of the protocol is refused, and both sides say why', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  const { refusal, node } = await rig.introduce(control.address, { protocol: { min: 7, max: 9 } });
  assert.match(
    String(refusal['reason']),
    /data plane speaks version 7 to 9 .*, this control plane \(1\.2\.3\) version 1/,
  );
  await until(() => control.server.dataPlanes().length === 1);
  assert.equal(control.server.dataPlanes()[0]?.id, node);
  assert.equal(control.server.dataPlanes()[0]?.refused, refusal['reason']);
  assert.ok(control.log.has('a data plane is refused'));
});

test('a peer of another version may send more members and other messages', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  const raw = await rig.introduce(control.address, { protocol: { min: 1, max: 9, news: true }, mood: 'good' });
  assert.equal(raw.welcome['protocol'], 1);
  raw.socket.send(JSON.stringify({ t: 'gossip', about: 'weather' }));
  raw.socket.send(JSON.stringify({ t: 'call', id: 5, method: 'ping', args: { loud: true }, trace: 'x' }));
  assert.deepEqual(await raw.next('result'), { t: 'result', id: 5, value: null });
});

test('while the database is unavailable, a data plane gets the config and the known rows', async () => {
  await using rig = new HybridRig();
  const real = await rig.openStore();
  await insertService(real, 'kept');
  await insertConsumer(real, 'known');
  let down = false;
  const broken: Partial<Store> = {};
  for (const name of ['get', 'findBy', 'list', 'changesSince', 'dump', 'write'] as const) {
    const own = real[name] as (...args: unknown[]) => Promise<unknown>;
    broken[name] = ((...args: unknown[]) =>
      down ? Promise.reject(new StoreError({ kind: 'unavailable' })) : own(...args)) as never;
  }
  const store = withFunctions(real, broken);
  let followed = (): number => -1;
  const cached = new CachedRows({
    path: '',
    query: async (question) => ({ version: followed(), rows: await readRows(store, question) }),
    queryMany: (batch) => readManyRows(store, batch),
    changed: () => {},
  });
  const control = await rig.controlPlane({ store, cached });
  followed = () => control.publisher.position.version;
  const early = rig.dataPlane(sharedSettings([control.address]));
  await rig.follow(early.store);
  assert.equal((await early.store.findBy('consumers', 'username', 'known'))?.['username'], 'known');
  down = true;
  const late = rig.dataPlane(sharedSettings([control.address]));
  const publisher = await rig.follow(late.store);
  assert.deepEqual(namesOf(publisher), ['kept']);
  assert.equal((await late.store.findBy('consumers', 'username', 'known'))?.['username'], 'known');
  await assert.rejects(late.store.findBy('consumers', 'username', 'stranger'), isUnavailable);
  down = false;
  assert.equal(await late.store.findBy('consumers', 'username', 'stranger'), null);
});

test('a data plane that is ahead of its control plane does not go back, and does not trust its cached rows', async () => {
  await using rig = new HybridRig();
  const real = await rig.openStore();
  await insertService(real, 'first');
  // This control plane has lost the database, and does not follow.
  let down = false;
  const store = withFunctions(real, {
    changesSince: (...args) =>
      down ? Promise.reject(new StoreError({ kind: 'unavailable' })) : real.changesSince(...args),
  });
  const behind = await rig.controlPlane({ store });
  down = true;
  const ahead = await rig.controlPlane({ store: real });
  const data = rig.dataPlane(sharedSettings([ahead.address, behind.address]));
  const publisher = await rig.follow(data.store);
  const { version } = await insertService(real, 'second');
  assert.ok(await publisher.reached(version, 5000));
  await ahead.close();
  await until(() => data.store.connectedTo === behind.address);
  await data.store.ping();
  assert.deepEqual(namesOf(publisher), ['first', 'second']);
  await assert.rejects(data.store.changesSince(publisher.position, 10), isUnavailable);
  down = false;
  const later = await insertService(real, 'third');
  assert.ok(await publisher.reached(later.version, 8000));
  assert.deepEqual(namesOf(publisher), ['first', 'second', 'third']);
});

test('a data plane writes its own usage and report, and no other', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane();
  const { store, id } = rig.dataPlane(sharedSettings([control.address]));
  const row = { resolution: 'hour', start: 0, route: '', service: '', consumer: '', version: '', status: 200 } as const;
  await store.putUsage([{ ...row, node: id, data: '[1]' }], [{ kind: 'route', id: 'r', name: 'n', seen: 1 }]);
  await control.store.putUsage([{ ...row, node: 'other', data: '[2]' }], []);
  const query = { resolution: 'hour', from: 0, to: 10, limit: 10 } as const;
  assert.deepEqual(
    (await store.readUsage(query)).map(({ data }) => data),
    ['[1]'],
  );
  assert.deepEqual(await store.readUsageNames('route', ['r']), [{ kind: 'route', id: 'r', name: 'n', seen: 1 }]);
  assert.equal((await store.findUsageNames('route', 'n')).length, 1);
  await assert.rejects(store.putUsage([{ ...row, node: 'other', data: '[9]' }], []), TypeError);
  await store.putNodes([{ id, role: 'data_plane', data: '{}' }]);
  await assert.rejects(store.putNodes([{ id: randomUUID(), role: 'data_plane', data: '{}' }]), TypeError);
  assert.equal(await store.countNodes(['data_plane'], 60_000), 1);
  assert.deepEqual(
    (await control.store.readNodes()).nodes.map((node) => node.id),
    [id],
  );
});

test('after the database of the control plane was restored, data planes have its config', async () => {
  await using rig = new HybridRig();
  const real = await rig.openStore();
  let restored = false;
  const store = withFunctions(real, {
    changesSince: async (...args) => {
      if (!restored) return real.changesSince(...args);
      restored = false;
      return 'rewritten';
    },
  });
  const control = await rig.controlPlane({ store });
  const data = rig.dataPlane(sharedSettings([control.address]));
  const publisher = await rig.follow(data.store);
  const kept = await insertService(real, 'kept');
  assert.ok(await publisher.reached(kept.version, 5000));
  let compared = 0;
  publisher.onStored((event) => {
    if (event.kind === 'config' && event.changed) compared++;
  });
  restored = true;
  await insertService(real, 'restored');
  await until(() => compared === 1);
  assert.deepEqual(namesOf(publisher), ['kept', 'restored']);
  const { version } = await insertService(real, 'later');
  assert.ok(await publisher.reached(version, 5000));
});
