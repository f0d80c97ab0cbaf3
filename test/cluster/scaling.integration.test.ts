import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { put, startCluster } from '../support/cluster.ts';
import { skipWithoutHaproxy, startHaproxy, type TestHaproxy } from '../support/haproxy.ts';
import { skipWithoutPostgres } from '../support/postgres.ts';
import { startClusterBackend } from './cluster-backend.fixture.ts';
import { addEcho, RolloutLoad, rolloutSettings } from './rollout-load.fixture.ts';

const skip =
  process.platform === 'linux' ? skipWithoutPostgres() || skipWithoutHaproxy() : 'needs the loopback network of Linux';

const limit = 300;

async function status({ host, port }: TestHaproxy, path: string): Promise<number> {
  const sent = get({ host, port, path, agent: false });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}

test('scaling from one node to five and back fails no request, and a limit holds over all of them', {
  skip,
}, async (t) => {
  await using backend = await startClusterBackend();
  await using cluster = await startCluster({ nodes: 5, started: 1, env: rolloutSettings });
  const [first, ...others] = cluster.nodes;
  assert.ok(first !== undefined);
  await addEcho(first, backend.url);
  assert.equal(await put(first, '/services/echo/routes/limited', { paths: ['/limited'] }), 200);
  // A window that does not end during the test.
  const config = { year: limit, policy: 'cluster', limit_by: 'service', fault_tolerant: false };
  const plugin = '/routes/limited/plugins/5d6c0a51-6a4d-4c3f-9f0e-3f1f6f7c2a11';
  assert.equal(await put(first, plugin, { name: 'rate-limiting', config }), 200);
  await using haproxy = await startHaproxy(cluster.host, cluster.nodes);
  await haproxy.settled([first.name]);
  using load = new RolloutLoad(haproxy);
  load.editConfig(() => first);
  const answers = new Map<number, number>();
  const limited = async (): Promise<number> => {
    const found = await status(haproxy, '/limited');
    answers.set(found, (answers.get(found) ?? 0) + 1);
    // On a machine that is too busy the store may not answer in time: then no request may pass.
    if (found !== 200 && found !== 429 && found !== 500) throw new Error(`status ${found}`);
    return found;
  };
  load.clients.add('limited', 2, async () => void (await limited()));
  await load.clients.progress(3);
  for (const node of others) await node.start();
  await haproxy.settled(cluster.nodes.map(({ name }) => name));
  await load.clients.progress(10);
  await Promise.all(Array.from({ length: 50 }, limited));
  await Promise.all(others.map((node) => node.stop()));
  await haproxy.settled([first.name]);
  await load.clients.progress(5);
  assert.deepEqual(await load.clients.stop(), []);
  // What is left of the budget; leases that the other nodes have returned are a part of it.
  while ((await limited()) !== 429);
  const passed = answers.get(200) ?? 0;
  t.diagnostic(
    `${passed} of ${limit} passed, ${answers.get(429)} were limited, ${answers.get(500) ?? 0} found no counters`,
  );
  const unavailable = cluster.nodes.some((node) => node.process.output().includes('the counters are unavailable'));
  assert.equal(answers.has(500), unavailable);
  assert.ok(passed <= limit, `${passed} passed`);
  assert.ok(passed >= limit * 0.8, `${passed} passed`);
});
