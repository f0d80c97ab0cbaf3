import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, test } from 'node:test';
import { startStallingProxy } from '../../../test/support/stalling-proxy.ts';
import { until } from '../../../test/support/until.ts';
import { serviceRow } from '../../data/snapshot/snapshot.fixture.ts';
import type { Row } from '../../shared/entities/entity.ts';
import { authority, HybridRig, sharedSettings } from './hybrid-rig.fixture.ts';

after(() => authority[Symbol.dispose]());

const patient = { pingInterval: 60_000, silence: 60_000 };

function manyServices(count: number): readonly Row[] {
  return Array.from({ length: count }, (_, i) => serviceRow(randomUUID(), { name: `service-${i}`, created_at: i }));
}

test('100,000 entities arrive in messages of bounded size, and block neither end', async () => {
  await using rig = new HybridRig();
  const services = manyServices(100_000);
  const config = { store: randomUUID(), version: 100_000, stamp: randomUUID(), entities: { services } };
  const control = await rig.controlPlane({ config, server: { times: patient } });
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const { store } = rig.dataPlane({ ...sharedSettings([control.address]), timeout: 10_000 }, { times: patient });
  const dump = await store.dump(['services', 'routes']);
  loop.disable();
  assert.equal(dump.entities['services']?.length, services.length);
  assert.deepEqual(dump.entities['services']?.[77_777], services[77_777]);
  // Both ends are in this process, on a machine with other work; one block of everything would take a second.
  assert.ok(loop.max / 1e6 < 400, `the event loop was blocked for ${loop.max / 1e6} ms`);
  const raw = await rig.introduce(control.address);
  await raw.next('config');
  const sizes = raw.messages.map((message) => JSON.stringify(message).length);
  assert.ok(
    sizes.length > 300 && Math.max(...sizes) < 256 * 1024,
    `${sizes.length} messages, up to ${Math.max(...sizes)}`,
  );
});

test('data planes that join while others do get the same config', async () => {
  await using rig = new HybridRig();
  const services = manyServices(5_000);
  const config = { store: randomUUID(), version: 5_000, stamp: randomUUID(), entities: { services } };
  const control = await rig.controlPlane({ config, server: { times: patient } });
  const settings = { ...sharedSettings([control.address]), timeout: 10_000 };
  const dumps = await Promise.all(
    Array.from({ length: 15 }, () => rig.dataPlane(settings, { times: patient }).store.dump(['services'])),
  );
  for (const dump of dumps) assert.deepEqual([dump.version, dump.entities['services']?.length], [5_000, 5_000]);
});

test('an edit costs a data plane less than 2 KB', async () => {
  await using rig = new HybridRig();
  const { store, address } = await rig.controlPlane();
  const raw = await rig.introduce(address);
  await raw.next('config');
  let bytes = 0;
  raw.socket.on('message', (data) => {
    bytes += String(data).length;
  });
  for (let port = 1; port <= 10; port++) {
    await store.write((writer) => writer.insert('services', serviceRow(randomUUID(), { name: `s${port}`, port })));
    await raw.next('changes');
  }
  assert.ok(bytes / 10 < 2048, `${bytes / 10} bytes`);
});

test('a step that is larger than a message comes in several, and takes effect at once', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ settings: { maxPayload: 50_000 } });
  const { store } = rig.dataPlane({ ...sharedSettings([control.address]), maxPayload: 50_000 });
  const publisher = await rig.follow(store);
  const steps: number[] = [];
  publisher.onStored(() => steps.push(publisher.config().upserts.services?.length ?? 0));
  const { version } = await control.store.write(async (writer) => {
    for (const row of manyServices(600)) await writer.insert('services', row);
    await writer.insert('services', serviceRow(randomUUID(), { name: 'large', path: `/${'x'.repeat(200_000)}` }));
  });
  assert.ok(await publisher.reached(version, 8000));
  assert.deepEqual(steps, [601]);
});

test('a data plane that was slow for long gets the whole config, and the control plane does not store it for it', async () => {
  await using rig = new HybridRig();
  const control = await rig.controlPlane({ server: { times: patient } });
  const port = Number(control.address.split(':')[1]);
  await using proxy = await startStallingProxy({ host: '127.0.0.1', port });
  const settings = { ...sharedSettings([`127.0.0.1:${proxy.port}`]), timeout: 10_000 };
  const { store } = rig.dataPlane(settings, { times: patient });
  const publisher = await rig.follow(store);
  const prompt = await rig.follow(
    rig.dataPlane({ ...settings, controlPlanes: [control.address] }, { times: patient }).store,
  );
  const id = randomUUID();
  await control.store.write((writer) => writer.insert('services', serviceRow(id, { name: 's' })));
  await until(() => publisher.position.version === 1);
  proxy.stall();
  let version = 0;
  for (let i = 0; i < 30; i++) {
    const row = serviceRow(id, { name: 's', path: `/${String(i % 10).repeat(1_000_000)}`, port: i + 1 });
    ({ version } = await control.store.write((writer) => writer.update('services', row)));
    // The others are not delayed.
    assert.ok(await prompt.reached(version, 5000));
  }
  assert.equal(publisher.position.version, 1);
  proxy.resume();
  assert.ok(await publisher.reached(version, 10_000));
  assert.equal(publisher.config().upserts.services?.[0]?.['port'], 30);
});
