import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster } from '../support/cluster.ts';
import { skipWithoutHaproxy, startHaproxy } from '../support/haproxy.ts';
import { skipWithoutPostgres } from '../support/postgres.ts';
import { startClusterBackend } from './cluster-backend.fixture.ts';
import { addEcho, RolloutLoad, rolloutSettings } from './rollout-load.fixture.ts';

const skip =
  process.platform === 'linux' ? skipWithoutPostgres() || skipWithoutHaproxy() : 'needs the loopback network of Linux';

test('a rolling restart of three nodes behind HAProxy fails no request, resets no connection, misses no route', {
  skip,
}, async (t) => {
  await using backend = await startClusterBackend();
  await using cluster = await startCluster({ nodes: 3, env: rolloutSettings });
  await addEcho(cluster.node(0), backend.url);
  await using haproxy = await startHaproxy(cluster.host, cluster.nodes);
  const names = cluster.nodes.map(({ name }) => name);
  await haproxy.settled(names);
  using load = new RolloutLoad(haproxy);
  let writer = cluster.node(1);
  load.editConfig(() => writer);
  await load.clients.progress(3);
  for (const [at, node] of cluster.nodes.entries()) {
    writer = cluster.node((at + 1) % 3);
    await node.stop();
    await node.start();
    await haproxy.settled(names);
  }
  await load.clients.progress(5);
  assert.deepEqual(await load.clients.stop(), []);
  for (const client of load.longLived) assert.ok(client.endings() >= 1, 'a long-lived connection has met a restart');
  const counts = load.clients.loads.map(({ name, requests }) => `${name} ${requests}`);
  t.diagnostic(`requests: ${counts.join(', ')}`);
});
