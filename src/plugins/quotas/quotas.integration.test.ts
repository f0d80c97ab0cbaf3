import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../../test/support/gateway.ts';
import {
  postgresSettings,
  skipWithoutPostgres,
  startPostgres,
  type TestPostgres,
} from '../../../test/support/postgres.ts';

const nameConsumer = fileURLToPath(new URL('./name-consumer.fixture.ts', import.meta.url));

let backend: TestBackend;
before(async () => {
  backend = await startBackend();
});
after(() => backend.close());

function node(settings: TestGatewayOptions['settings']): Promise<TestGateway> {
  return startTestGateway({ settings: { plugins: ['quotas', nameConsumer], ...settings } });
}

async function created(gateway: TestGateway, path: string, body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await gateway.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return String(answer.body['id']);
}

async function configure(gateway: TestGateway, config: Readonly<Record<string, unknown>>): Promise<void> {
  await created(gateway, '/services', { name: 'api', url: backend.url });
  await created(gateway, '/services/api/routes', { name: 'api', paths: ['/'] });
  await created(gateway, '/plugins', { name: 'name-consumer' });
  for (const username of ['ada', 'bob']) await created(gateway, '/consumers', { username });
  await created(gateway, '/plugins', { name: 'quotas', config });
}

/** How many of this many concurrent requests are accepted. */
async function passed(gateways: readonly TestGateway[], requests: number, consumer = 'ada'): Promise<number> {
  const statuses = await Promise.all(
    Array.from({ length: requests }, async (_, at) => {
      const url = gateways[at % gateways.length]?.proxyUrl ?? '';
      const answer = await fetch(url, { headers: { 'X-Test-Consumer': consumer } });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  assert.ok(
    statuses.every((status) => status === 200 || status === 429),
    String(new Set(statuses)),
  );
  return statuses.filter((status) => status === 200).length;
}

async function quotasOf(gateway: TestGateway, consumer = 'ada'): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const answer = await gateway.admin('GET', `/consumers/${consumer}/quotas`);
  assert.equal(answer.status, 200);
  return answer.body['data'] as readonly Readonly<Record<string, unknown>>[];
}

it('keep their counters over a restart', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-quotas-'));
  try {
    const first = await node({ prefix, workers: 2 });
    try {
      await configure(first, { month: 5, day: 5 });
      assert.equal(await passed([first], 3), 3);
    } finally {
      await first.stop();
    }
    const second = await node({ prefix, workers: 2 });
    try {
      const [day, month] = await quotasOf(second);
      assert.deepEqual([day?.['period'], day?.['used'], day?.['remaining']], ['day', 3, 2]);
      assert.deepEqual([month?.['period'], month?.['used'], month?.['remaining']], ['month', 3, 2]);
      assert.ok(Number(month?.['resets_at']) > Date.now() / 1000);
      assert.equal(await passed([second], 20), 2);
      assert.equal((await second.admin('GET', '/consumers/nobody/quotas')).status, 404);
    } finally {
      await second.stop();
    }
  } finally {
    await rm(prefix, { recursive: true, force: true });
  }
});

it('describe reading and resetting counters in the OpenAPI document', async () => {
  const gateway = await node({});
  try {
    const { body } = await gateway.admin('GET', '/openapi.json');
    const paths = body['paths'] as Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
    const reset = paths['/consumers/{consumers}/quotas']?.['delete'];
    assert.equal(reset?.responses['200'], undefined);
    assert.deepEqual(reset?.responses['204'], { description: 'Done; the answer is empty.' });
    assert.deepEqual(
      reset?.parameters.map(({ name }) => name),
      ['period', 'plugin'],
    );
  } finally {
    await gateway.stop();
  }
});

interface OpenApiOperation {
  readonly parameters: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, unknown>>;
}

describe('two nodes', { skip: skipWithoutPostgres() }, () => {
  let postgres: TestPostgres;
  let nodes: readonly TestGateway[];

  before(async () => {
    postgres = await startPostgres();
    const pg = postgresSettings(postgres);
    const settings = { database: 'postgres', pg, workers: 2 } as const;
    const first = await node(settings);
    await configure(first, { month: 200 });
    nodes = [first, await node(settings)];
  });
  after(async () => {
    for (const gateway of nodes ?? []) await gateway.stop();
    await postgres?.stop();
  });

  it('accept exactly the quota, and start again after a reset', async () => {
    assert.equal(await passed(nodes, 500), 200);
    for (const gateway of nodes) assert.equal((await quotasOf(gateway))[0]?.['used'], 200);
    assert.equal(await passed(nodes, 50), 0);
    assert.equal((await nodes[1]?.admin('DELETE', '/consumers/ada/quotas'))?.status, 204);
    const deadline = Date.now() + 5000;
    let again = 0;
    while (again < 10) {
      assert.ok(Date.now() < deadline, `${again} passed within 5 s`);
      again += await passed(nodes, 2);
      await setTimeout(50);
    }
    assert.equal(again + (await passed(nodes, 500)), 200);
  });

  it('count separately while the database is down, at most the quota each, and synchronise afterwards', async () => {
    const before = await passed(nodes, 60, 'bob');
    assert.equal(before, 60);
    // Counting does not wait for the disk; a later durable write also makes earlier counts durable.
    await created(nodes[0] as TestGateway, '/consumers', { username: 'eve' });
    await postgres.crash();
    const meanwhile = await passed(nodes, 600, 'bob');
    await postgres.restart();
    const both = before + meanwhile;
    assert.ok(both >= 200 && both <= 2 * 200, `${both} passed`);
    const deadline = Date.now() + 10_000;
    const used = async () => Number((await quotasOf(nodes[0] as TestGateway, 'bob'))[0]?.['used']);
    while ((await used()) < both) {
      assert.ok(Date.now() < deadline, `${await used()} of ${both} are counted after 10 s`);
      await setTimeout(100);
    }
    assert.equal(await passed(nodes, 20, 'bob'), 0);
  });
});
