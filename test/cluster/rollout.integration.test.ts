import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { type Cluster, type ClusterNode, put, startCluster } from '../support/cluster.ts';
import { checkInterval, skipWithoutHaproxy, startHaproxy, type TestHaproxy } from '../support/haproxy.ts';
import { Clients, http1, http2Client } from '../support/load-clients.ts';
import { eventStreamClient, type LongLivedClient, webSocketClient } from '../support/long-lived-clients.ts';
import { skipWithoutPostgres } from '../support/postgres.ts';
import { startClusterBackend } from './cluster-backend.fixture.ts';

const skip =
  process.platform === 'linux' ? skipWithoutPostgres() || skipWithoutHaproxy() : 'needs the loopback network of Linux';

const settings = {
  // Longer than HAProxy needs to notice: two failed checks, and one that has just begun.
  SLUICEGATE_SHUTDOWN_DELAY: `${checkInterval * 4}ms`,
  SLUICEGATE_DRAIN_TIMEOUT: '600ms',
};

/** Milliseconds in which a write reaches every node (docs/deploy/several-nodes.md). */
const spread = 1_000;

/** Every kind of client that a rollout must not disturb. */
class RolloutLoad implements Disposable {
  readonly clients = new Clients();
  readonly longLived: readonly LongLivedClient[];
  readonly #cleanup = new DisposableStack();

  constructor({ host, port, tlsPort }: TestHaproxy) {
    const { clients } = this;
    const agent = new Agent({ keepAlive: true, maxSockets: 3 });
    const session = http2Client(tlsPort, { origin: `https://${host}:${tlsPort}` });
    const socket = webSocketClient(`ws://${host}:${port}/echo/socket`);
    const events = eventStreamClient(`http://${host}:${port}/echo/events`);
    this.longLived = [socket, events];
    clients.add('keep-alive', 3, () => http1(port, agent, '/echo', host));
    clients.add('new connections', 1, () => http1(port, false, '/echo', host));
    clients.add('HTTP/2', 2, () => session.step());
    clients.add('WebSocket', 1, () => socket.step());
    clients.add('events', 1, () => events.step());
    this.#cleanup.defer(() => {
      agent.destroy();
      for (const client of [session, socket, events]) client.close();
    });
  }

  [Symbol.dispose](): void {
    this.clients[Symbol.dispose]();
    this.#cleanup.dispose();
  }
}

async function addEcho(cluster: Cluster, url: string): Promise<void> {
  assert.equal(await put(cluster.node(0), '/services/echo', { url }), 200);
  assert.equal(await put(cluster.node(0), '/services/echo/routes/echo', { paths: ['/echo'] }), 200);
}

/** Adds routes, one after the other, and remembers when each of them was confirmed. */
class Editor {
  readonly #confirmed: { readonly path: string; readonly at: number }[] = [];
  #serial = 0;

  async add(node: ClusterNode): Promise<void> {
    const name = `route-${++this.#serial}`;
    if ((await put(node, `/services/echo/routes/${name}`, { paths: [`/${name}`] })) !== 200) throw new Error(name);
    this.#confirmed.push({ path: `/${name}`, at: performance.now() });
  }

  /** A path that every node must know by now; null: there is none. */
  known(): string | null {
    const before = performance.now() - spread;
    const count = this.#confirmed.findLastIndex(({ at }) => at < before) + 1;
    // The latest routes are those that a node could lack.
    const last = this.#confirmed[count - 1 - Math.floor(Math.random() * Math.min(count, 20))];
    return last?.path ?? null;
  }
}

test('a rolling restart of three nodes behind HAProxy fails no request and resets no connection', {
  skip,
  timeout: 120_000,
}, async () => {
  await using backend = await startClusterBackend();
  await using cluster = await startCluster({ nodes: 3, env: settings });
  await addEcho(cluster, backend.url);
  await using haproxy = await startHaproxy(cluster.host, cluster.nodes);
  const names = cluster.nodes.map(({ name }) => name);
  await haproxy.settled(names);
  using load = new RolloutLoad(haproxy);
  const { clients } = load;
  await clients.progress(3);
  const editor = new Editor();
  let writer = cluster.node(1);
  clients.add('edits', 1, () => editor.add(writer));
  const agent = new Agent({ keepAlive: true, maxSockets: 3 });
  const added = clients.add('added routes', 3, async () => {
    const path = editor.known();
    if (path !== null) await http1(haproxy.port, agent, path, haproxy.host);
  });
  for (const [at, node] of cluster.nodes.entries()) {
    writer = cluster.node((at + 1) % 3);
    await node.stop();
    await node.start();
    await haproxy.settled(names);
  }
  await clients.progress(5);
  assert.deepEqual(await clients.stop(), []);
  agent.destroy();
  for (const client of load.longLived) assert.ok(client.endings() >= 1, 'a long-lived connection has met a restart');
  assert.ok(added.requests > 100, `${added.requests} requests to new routes`);
  if (process.env['ROLLS'] !== undefined) {
    const requests = clients.loads.reduce((sum, each) => sum + each.requests, 0);
    process.stdout.write(`${requests} requests, ${added.requests} to new routes\n`);
  }
});
