import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  skipWithoutDnsServer,
  startDnsServer,
  type TestDnsOptions,
  type TestDnsServer,
} from '../../../test/support/dns-server.ts';
import { leastTime } from '../../../test/support/least-time.ts';
import { createTestClient, eventually, type TestClient } from './client/dns-client.fixture.ts';
import { addressRecord, answerTo, startHostileServer } from './client/hostile-server.fixture.ts';
import { NameTable, type NameTableOptions } from './name-table.ts';
import type { NameState } from './types.ts';

interface Watched extends AsyncDisposable {
  readonly dns: TestClient;
  readonly table: NameTable;
  /** `a.test 10.0.0.1 10.0.0.2`, one for each call of `onChange`. */
  readonly changes: readonly string[];
}

async function createTable(
  server: { readonly ip: string; readonly port: number },
  options: Partial<NameTableOptions> = {},
): Promise<Watched> {
  const dns = await createTestClient({ servers: [server], conf: 'options timeout:1 attempts:1\n' });
  const changes: string[] = [];
  const table = new NameTable({
    resolver: dns.client,
    staleTtl: 60_000,
    notFoundTtl: 1_000,
    errorTtl: 1_000,
    size: 100,
    onChange: (name, state) => changes.push([name, ...ips(state)].join(' ')),
    ...options,
  });
  return {
    dns,
    table,
    changes,
    async [Symbol.asyncDispose]() {
      table.close();
      await dns[Symbol.asyncDispose]();
    },
  };
}

function ips({ addresses }: NameState): readonly string[] {
  return addresses.map(({ ip }) => ip);
}

async function withServer(options: TestDnsOptions, run: (server: TestDnsServer) => Promise<void>): Promise<void> {
  const server = await startDnsServer(options);
  try {
    await run(server);
  } finally {
    await server.stop();
  }
}

describe('names in use, with a real server', { skip: skipWithoutDnsServer(), concurrency: true }, () => {
  test('new addresses are fetched in the background when the TTL of the old ones is over, and not before', async () => {
    await withServer({ ttl: 2, hosts: ['10.0.0.1 a.test'] }, async (server) => {
      await using watched = await createTable(server);
      const { table, changes } = watched;
      const begin = performance.now();
      assert.deepEqual(ips(await table.lookup('a.test')), ['10.0.0.1']);
      await server.setHosts(['10.0.0.2 a.test', '10.0.0.3 a.test']);
      await eventually(() => assert.equal(changes.length, 2));
      const elapsed = performance.now() - begin;
      assert.ok(elapsed > 1_950 && elapsed < 4_000, `after ${elapsed} ms`);
      assert.deepEqual(ips(table.get('a.test') as NameState).toSorted(), ['10.0.0.2', '10.0.0.3']);
      assert.equal(changes[0], 'a.test 10.0.0.1');
    });
  });

  test('records in another order change nothing', async () => {
    await withServer({ ttl: 1, hosts: ['10.0.0.1 a.test', '10.0.0.2 a.test', '10.0.0.3 a.test'] }, async (server) => {
      await using watched = await createTable(server);
      const { table, changes } = watched;
      const { addresses } = await table.lookup('a.test');
      await eventually(() => assert.ok(table.counts.refreshes >= 4));
      assert.equal(table.get('a.test')?.addresses, addresses);
      assert.equal(changes.length, 1);
    });
  });

  test('a TTL of 0 is refreshed each second, and never by a lookup', async () => {
    await withServer({ ttl: 0, hosts: ['10.0.0.1 a.test'] }, async (server) => {
      await using watched = await createTable(server);
      const { table, changes } = watched;
      await table.lookup('a.test');
      const asked = server.questions.length;
      for (let index = 0; index < 100; index++) await table.lookup('a.test');
      assert.equal(server.questions.length, asked);
      await server.setHosts(['10.0.0.2 a.test']);
      await eventually(() => assert.equal(changes.at(-1), 'a.test 10.0.0.2'), 3_000);
    });
  });

  test('the server stops after a success: the old addresses stay until the stale TTL is over', async () => {
    await withServer({ ttl: 1, hosts: ['10.0.0.1 a.test'] }, async (server) => {
      await using watched = await createTable(server, { staleTtl: 3_000 });
      const { table, changes } = watched;
      await table.lookup('a.test');
      await server.kill();
      await eventually(() => assert.equal(table.get('a.test')?.stale, true));
      assert.deepEqual(ips(await table.lookup('a.test')), ['10.0.0.1']);
      assert.match(table.get('a.test')?.error ?? '', /ECONNREFUSED/);
      assert.equal(changes.length, 1);
      await eventually(() => assert.equal(changes.at(-1), 'a.test'));
      const gone = await table.lookup('a.test');
      assert.deepEqual([gone.addresses.length, gone.failure, gone.stale], [0, 'failed', false]);
      await server.restart();
      await eventually(async () => assert.deepEqual(ips(await table.lookup('a.test')), ['10.0.0.1']));
      assert.equal(changes.at(-1), 'a.test 10.0.0.1');
      assert.equal(table.get('a.test')?.error, null);
    });
  });

  test('a deleted name keeps its addresses for the same time; it recovers without a lookup', async () => {
    await withServer({ ttl: 1, hosts: ['10.0.0.1 a.test'] }, async (server) => {
      await using watched = await createTable(server);
      const { table, changes } = watched;
      await table.lookup('a.test');
      await server.setHosts([]);
      await eventually(() => assert.equal(table.get('a.test')?.failure, 'not-found'));
      assert.deepEqual(ips(await table.lookup('a.test')), ['10.0.0.1']);
      await server.setHosts(['10.0.0.2 a.test']);
      await eventually(() => assert.equal(changes.at(-1), 'a.test 10.0.0.2'));
    });
  });

  test('the absence of a name is cached, and refreshed', async () => {
    await withServer({ ttl: 1 }, async (server) => {
      await using watched = await createTable(server, { notFoundTtl: 2_000 });
      const { table, changes } = watched;
      const state = await table.lookup('a.test');
      assert.deepEqual([state.failure, state.addresses.length], ['not-found', 0]);
      const asked = server.questions.length;
      await table.lookup('a.test');
      assert.equal(server.questions.length, asked);
      await server.setHosts(['10.0.0.2 a.test']);
      await eventually(() => assert.deepEqual(changes, ['a.test', 'a.test 10.0.0.2']));
    });
  });

  test('a server that hangs does not delay lookups of known names', async () => {
    await withServer({ ttl: 1, hosts: ['10.0.0.1 a.test'] }, async (server) => {
      await using watched = await createTable(server);
      const { table } = watched;
      await table.lookup('a.test');
      server.hang();
      await eventually(() => assert.equal(table.get('a.test')?.stale, true));
      const took = await leastTime(200, async () => assert.deepEqual(ips(await table.lookup('a.test')), ['10.0.0.1']));
      assert.ok(took < 200, `${took} ms`);
      server.resume();
      await eventually(() => assert.equal(table.get('a.test')?.stale, false));
    });
  });
});

test('SERVFAIL after a success: the old addresses stay', async () => {
  let failing = false;
  await using server = await startHostileServer(({ message, name, reply }) =>
    reply(answerTo(message, failing ? { code: 2 } : { answers: [addressRecord(name, '10.0.0.1', 1)] })),
  );
  await using watched = await createTable(server);
  const { table, changes } = watched;
  await table.lookup('a.test');
  failing = true;
  await eventually(() => assert.equal(table.get('a.test')?.stale, true));
  assert.match(table.get('a.test')?.error ?? '', /2 server failure/);
  assert.deepEqual(ips(await table.lookup('a.test')), ['10.0.0.1']);
  failing = false;
  await eventually(() => assert.equal(table.get('a.test')?.stale, false));
  assert.equal(changes.length, 1);
});

test('simultaneous lookups of a new name share one query', async () => {
  await using server = await startHostileServer(({ message, name, reply }) =>
    reply(answerTo(message, { answers: [addressRecord(name, '10.0.0.1')] })),
  );
  await using watched = await createTable(server);
  const states = await Promise.all(Array.from({ length: 50 }, () => watched.table.lookup('A.test')));
  assert.equal(new Set(states).size, 1);
  assert.equal(server.asked.filter(({ type }) => type === 33).length, 1);
});
