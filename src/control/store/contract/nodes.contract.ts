import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { StoreBench } from './store-bench.ts';

const role = 'traditional';

export function registerNodeTests(bench: StoreBench): void {
  it('returns the last report of each node, with the time of the database', async () => {
    const store = await bench.fresh();
    const before = (await store.readNodes()).now;
    assert.deepEqual((await store.readNodes()).nodes, []);
    await store.putNodes([
      { id: 'b', role, data: '{"at":1}' },
      { id: 'a', role, data: `{"name":"o'neil \\" ü😀"}` },
    ]);
    await store.putNodes([{ id: 'b', role, data: '{"at":2}' }]);
    const { now, nodes } = await store.readNodes();
    assert.deepEqual(
      nodes.map(({ id, data }) => [id, JSON.parse(data)]),
      [
        ['a', { name: `o'neil " ü😀` }],
        ['b', { at: 2 }],
      ],
    );
    for (const { seenAt } of nodes) assert.ok(seenAt >= before && seenAt <= now, `${before} ${seenAt} ${now}`);
  });

  it('removes a node that has stopped, and no other', async () => {
    const store = await bench.fresh();
    await store.putNodes([
      { id: 'a', role, data: '{}' },
      { id: 'b', role, data: '{}' },
    ]);
    await store.removeNode('a');
    await store.removeNode('c');
    assert.deepEqual(
      (await store.readNodes()).nodes.map(({ id }) => id),
      ['b'],
    );
  });

  it('removes nodes that have been silent for long', async () => {
    const store = await bench.fresh();
    await store.putNodes([{ id: 'a', role, data: '{}' }]);
    assert.equal(await store.deleteNodes(60_000), 0);
    assert.equal(await store.deleteNodes(0), 1);
    assert.deepEqual((await store.readNodes()).nodes, []);
  });

  it('a report is no change of the config', async () => {
    const store = await bench.fresh();
    const before = await store.position();
    await store.putNodes([{ id: 'a', role, data: '{}' }]);
    assert.deepEqual(await store.position(), before);
  });

  it('counts the nodes of some roles that have reported lately', async () => {
    const store = await bench.fresh();
    const roles = ['traditional', 'control_plane', 'data_plane'] as const;
    await store.putNodes(roles.map((one) => ({ id: one, role: one, data: '{}' })));
    assert.equal(await store.countNodes(['traditional', 'data_plane'], 60_000), 2);
    assert.equal(await store.countNodes(['control_plane'], 60_000), 1);
    assert.equal(await store.countNodes(roles, 0), 0);
  });
}
