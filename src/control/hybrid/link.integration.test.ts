import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { serviceRow } from '../../data/snapshot/snapshot.fixture.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { Store } from '../store/store.ts';
import { HybridRig, sharedSettings } from './hybrid-rig.fixture.ts';

function insertService(store: Store, name: string, id: string = randomUUID()): Promise<{ readonly version: number }> {
  return store.write((writer) => writer.insert('services', serviceRow(id, { name })));
}

function namesOf(publisher: Publisher): readonly unknown[] {
  return (publisher.config().upserts.services ?? []).map((row) => row['name']).sort();
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
