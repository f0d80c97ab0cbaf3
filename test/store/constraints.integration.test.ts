import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.ts';
import { type DatabasePlace, skipWithoutPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type ClusterNode, create, startClusterNode } from './nodes.fixture.ts';
import { assertConsistent } from './store-checks.fixture.ts';

const rounds = 12;

const skip = skipWithoutPostgres() || skipWithoutPgBouncer();
let postgres: TestPostgres;
let pooler: TestPgBouncer;
before(async () => {
  if (skip !== false) return;
  postgres = await startPostgres();
  pooler = await startPgBouncer(postgres, 'transaction');
});
after(async () => {
  await pooler?.stop();
  await postgres?.stop();
});

async function statuses(writes: readonly Promise<{ readonly status: number }>[]): Promise<readonly number[]> {
  return (await Promise.all(writes)).map(({ status }) => status).sort();
}

async function conflict(nodes: readonly ClusterNode[], round: number): Promise<void> {
  const [a, b, c] = nodes;
  assert.ok(a && b && c);
  const name = `s${round}`;

  // One name, three writers.
  const same = { name, url: 'http://127.0.0.1:9', tags: ['all'] };
  assert.deepEqual(await statuses(nodes.map((node) => node.admin('POST', '/services', same))), [201, 409, 409]);

  // Two rows want the name of the other one.
  for (const suffix of ['x', 'y']) await create(a, '/consumers', { username: `${name}-${suffix}`, tags: ['all'] });
  const renamed = await statuses([
    b.admin('PATCH', `/consumers/${name}-x`, { username: `${name}-z` }),
    c.admin('PATCH', `/consumers/${name}-y`, { username: `${name}-z` }),
  ]);
  assert.deepEqual(renamed, [200, 409]);

  // A parent is deleted while it gets children: either the delete or the children.
  const [deleted, ...children] = await Promise.all([
    a.admin('DELETE', `/services/${name}`),
    b.admin('POST', `/services/${name}/routes`, { name: `${name}-b`, paths: [`/${name}-b/`], tags: ['all'] }),
    c.admin('POST', `/services/${name}/routes`, { name: `${name}-c`, paths: [`/${name}-c/`], tags: ['all'] }),
  ]);
  const created = children.filter(({ status }) => status === 201).length;
  for (const { status } of children) assert.ok([201, 400, 404].includes(status), String(status));
  assert.equal(deleted.status, created === 0 ? 204 : 400);

  // A cascade takes the children that others are creating.
  const consumer = await create(a, '/consumers', { username: `${name}-owner` });
  const limiter = { name: 'request-termination', config: { status_code: 200 }, tags: ['all'] };
  const racing = await Promise.all([
    a.admin('DELETE', `/consumers/${String(consumer['id'])}`),
    b.admin('POST', `/consumers/${name}-owner/plugins`, limiter),
    c.admin('POST', `/consumers/${name}-owner/plugins`, limiter),
  ]);
  assert.equal(racing[0].status, 204);
  for (const { status } of racing.slice(1)) assert.ok([201, 400, 404, 409].includes(status), String(status));
}

async function assertConstraintsHold(place: DatabasePlace, schema: string): Promise<void> {
  const first = await startClusterNode(place, { schema });
  const nodes = [first, ...(await Promise.all([0, 1].map(() => startClusterNode(place, { schema }))))];
  try {
    await Promise.all(Array.from({ length: rounds }, (_, round) => conflict(nodes, round)));
    await assertConsistent(postgres, schema);
    // Every node has what the database has.
    const routes = (await first.admin('GET', '/routes?size=1000')).body['data'] as { paths: string[] }[];
    await create(first, '/services', { name: 'last', url: 'http://127.0.0.1:9' });
    await create(first, '/services/last/routes', { name: 'last', paths: ['/last/'] });
    for (const node of nodes) {
      await until(async () => (await node.proxy('/last/')) !== 404);
      for (let round = 0; round < rounds; round++) {
        for (const path of [`/s${round}-b/`, `/s${round}-c/`]) {
          const expected = routes.some(({ paths }) => paths.includes(path));
          assert.equal((await node.proxy(path)) !== 404, expected, path);
        }
      }
    }
  } finally {
    for (const node of nodes) await node[Symbol.asyncDispose]();
  }
}

describe('three nodes that write the same things at once keep every constraint', { skip }, () => {
  it('on PostgreSQL', () => assertConstraintsHold(postgres, 'direct'));

  it('through PgBouncer in transaction mode', () => assertConstraintsHold(pooler.server, 'pooled'));
});
