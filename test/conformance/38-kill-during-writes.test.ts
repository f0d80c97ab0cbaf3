import assert from 'node:assert/strict';
import { it } from 'node:test';
import pg from 'pg';
import { type ClusterNode, put, startCluster } from '../support/cluster.ts';
import { skipWithoutPostgres, type TestPostgres } from '../support/postgres.ts';

const skip = process.platform === 'linux' ? skipWithoutPostgres() : 'needs the loopback network of Linux';

/** Rounds in which every node is killed once; for a measurement: `KILL_ROUNDS=70` are 210 kills. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? 2);

/** Writes one service after the other until the node does not answer; returns the names that were confirmed. */
async function writeUntilBroken(node: ClusterNode, prefix: string, confirmed: () => void): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const name = `${prefix}-${names.length}`;
    const status = await put(node, `/services/${name}`, { host: 'backend.test' }).catch(() => null);
    if (status === null) return names;
    // While PostgreSQL recovers from the end of one of its processes.
    if (status === 503) continue;
    assert.equal(status, 200);
    names.push(name);
    confirmed();
  }
}

/** Kills a node, and starts it again, after some writes and at a random moment. */
async function killDuringWrites(node: ClusterNode, name: string): Promise<string[]> {
  let left = 1 + Math.floor(Math.random() * 30);
  const kill = (): void => {
    left--;
    if (left === 0) setTimeout(() => void node.kill(), Math.random() * 4);
  };
  const names = await Promise.all(['a', 'b'].map((writer) => writeUntilBroken(node, `${name}-${writer}`, kill)));
  await node.start();
  return names.flat();
}

async function storedNames(node: ClusterNode): Promise<Set<string>> {
  const names = new Set<string>();
  for (let next: string | null = '/services?size=1000'; next !== null; ) {
    const response = await fetch(node.adminUrl + next);
    const page = (await response.json()) as { data: { name: string }[]; next: string | null };
    for (const { name } of page.data) names.add(name);
    next = page.next;
  }
  return names;
}

it('Case 38: nodes on one PostgreSQL that are killed during writes keep every write that they confirmed', {
  skip,
  timeout: 60_000 + rounds * 20_000,
}, async (t) => {
  await using cluster = await startCluster({ nodes: 3 });
  const confirmed: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const kills = cluster.nodes.map((node) => killDuringWrites(node, `${round}-${node.name}`));
    // PostgreSQL then ends all connections, and recovers from its log.
    if (round % 2 === 1) await killDatabaseProcess(cluster.postgres);
    confirmed.push(...(await Promise.all(kills)).flat());
  }
  const stored = await storedNames(cluster.node(0));
  assert.deepEqual(
    confirmed.filter((name) => !stored.has(name)),
    [],
  );
  assert.ok(confirmed.length >= rounds * 3, `${confirmed.length} writes`);
  t.diagnostic(`${rounds * 3} kills of nodes, ${confirmed.length} confirmed writes, ${stored.size} stored`);
});

/** SIGKILL to a process of PostgreSQL that serves a connection. */
async function killDatabaseProcess({ host, port, user, password, database }: TestPostgres): Promise<void> {
  const client = new pg.Client({ host, port, user, password, database });
  client.on('error', () => {});
  await client.connect();
  const own = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  process.kill(own.rows[0]!.pid, 'SIGKILL');
  await client.end().catch(() => {});
}
