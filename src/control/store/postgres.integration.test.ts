import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { skipWithoutPostgres, startPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import type { EntityDefinition } from '../../shared/entities/entity.ts';
import { changesAfter, deleteRow, insertRow } from './contract/store-bench.ts';
import { createStore, type StoreLog, type StoreOptions } from './create-store.ts';
import { describeStore } from './store.contract.ts';
import { testDefinitions, testRow } from './store.fixture.ts';
import { type Change, type FeedPosition, type Store, StoreError } from './store.ts';

const skip = skipWithoutPostgres();
let server: TestPostgres;
before(async () => {
  if (skip === false) server = await startPostgres();
});
after(() => server?.stop());

let places = 0;
function newSchema(): string {
  places += 1;
  return `place "${places}"`;
}

interface Overrides {
  readonly password?: string;
  readonly database?: string;
  readonly port?: number;
  readonly ssl?: boolean;
  readonly log?: StoreLog;
  readonly definitions?: readonly EntityDefinition[];
  readonly keptChanges?: number;
}

function optionsOf(schema: string | null, overrides: Overrides = {}): StoreOptions {
  const { port, password, database, ssl, ...options } = { ...server, ssl: false, ...overrides };
  const { host, user } = server;
  return {
    kind: 'postgres',
    pg: { host, port, user, password, database, schema, ssl, sslVerify: false, timeout: 5000, poolSize: 4 },
    definitions: testDefinitions,
    ...options,
  };
}

function open(schema: string | null, overrides: Overrides = {}): Promise<Store> {
  return createStore(optionsOf(schema, overrides));
}

async function openNodes(count: number, overrides: Overrides = {}): Promise<readonly Store[]> {
  const schema = newSchema();
  const nodes = await Promise.all(Array.from({ length: count }, () => open(schema, overrides)));
  await Promise.all(nodes.map((node) => node.migrate()));
  return nodes;
}

function clientConfig({ host, port, user, password, database }: TestPostgres): pg.ClientConfig {
  return { host, port, user, password, database };
}

function closeAll(nodes: readonly Store[]): Promise<unknown> {
  return Promise.all(nodes.map((node) => node.close()));
}

/** Resolves when `store` was notified of `version`, with the milliseconds that it took. */
function notifiedOf(store: Store, version: number): Promise<number> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const unsubscribe = store.subscribe(() => {
      store.version().then((seen) => {
        if (seen < version) return;
        unsubscribe();
        resolve(performance.now() - start);
      }, reject);
    });
  });
}

describeStore(
  'the PostgreSQL store',
  {
    newPlace: async () => newSchema(),
    execute: async (schema, statements) => {
      const client = new pg.Client(clientConfig(server));
      await client.connect();
      const path = `set search_path to ${pg.escapeIdentifier(schema)}`;
      await client.query(['begin', path, ...statements, 'commit'].join(';'));
      await client.end();
    },
    options: optionsOf,
  },
  { skip },
);

describe('several nodes on one PostgreSQL', { skip }, () => {
  it('detect a write on another node within a second', async () => {
    const nodes = await openNodes(2);
    const [a, b] = nodes;
    assert.ok(a && b);
    for (let version = 1; version <= 5; version += 1) {
      const notified = notifiedOf(b, version);
      const before = await b.position();
      const row = await insertRow(a, 'services', testRow());
      assert.ok((await notified) < 1000);
      assert.deepEqual((await changesAfter(b, before))[0]?.row, row);
    }
    await closeAll(nodes);
  });

  it('detect a commit whose notification is lost within a second, too', async () => {
    const [node] = await openNodes(1);
    assert.ok(node);
    const notified = notifiedOf(node, 1);
    const silent = new pg.Client(clientConfig(server));
    await silent.connect();
    await silent.query(`update "place ""${places}""".store_version set version = 1`);
    assert.ok((await notified) < 1000);
    await silent.end();
    await node.close();
  });

  it('see versions without gaps, in the order of the commits, while all of them write', async () => {
    const nodes = await openNodes(3);
    const reader = nodes[0];
    assert.ok(reader);
    let position: FeedPosition = await reader.position();
    const writes = nodes.map(async (node) => {
      for (let i = 0; i < 15; i += 1) await insertRow(node, 'services', testRow());
    });
    const seen: Change[] = [];
    while (seen.length < 45) {
      const batch = await reader.changesSince(position, 100);
      assert.ok(typeof batch !== 'string', String(batch));
      seen.push(...batch.changes);
      position = batch.position;
    }
    await Promise.all(writes);
    assert.deepEqual(
      seen.map((change) => change.version),
      Array.from({ length: 45 }, (_, i) => i + 1),
    );
    const stamps = seen.map((change) => change.row?.created_at ?? 0);
    assert.ok(stamps.every((stamp, i) => i === 0 || stamp > (stamps[i - 1] ?? 0)));
    await closeAll(nodes);
  });

  it('let exactly one of several simultaneous writers use a name', async () => {
    const nodes = await openNodes(3);
    const attempts = nodes.flatMap((node) => [1, 2, 3].map(() => insertRow(node, 'services', testRow({ name: 'n' }))));
    const settled = await Promise.allSettled(attempts);
    assert.equal(settled.filter((attempt) => attempt.status === 'fulfilled').length, 1);
    for (const attempt of settled) {
      if (attempt.status === 'fulfilled') continue;
      assert.deepEqual(attempt.reason.detail, { kind: 'unique', entity: 'services', fields: { name: 'n' } });
    }
    await closeAll(nodes);
  });

  it('do not create a child under a parent that another node deletes', async () => {
    const nodes = await openNodes(2);
    const [a, b] = nodes;
    assert.ok(a && b);
    for (let i = 0; i < 10; i += 1) {
      const service = await insertRow(a, 'services', testRow());
      const settled: PromiseSettledResult<unknown>[] = await Promise.allSettled([
        deleteRow(a, 'services', service.id),
        insertRow(b, 'routes', testRow({ service: { id: service.id } })),
      ]);
      assert.equal(settled.filter((attempt) => attempt.status === 'fulfilled').length, 1);
    }
    await closeAll(nodes);
  });
});

describe('an unreachable PostgreSQL', { skip }, () => {
  async function failureOf(promise: Promise<unknown>): Promise<StoreError> {
    try {
      await promise;
    } catch (error) {
      assert.ok(error instanceof StoreError, String(error));
      assert.doesNotMatch(error.message, /\n/);
      return error;
    }
    throw new assert.AssertionError({ message: 'it did not fail' });
  }

  it('is distinguished from one that refuses, each in one line', async () => {
    const cases: readonly [Overrides, string, RegExp][] = [
      [{ password: 'wrong' }, 'refused', /gateway@127\.0\.0\.1:\d+\/postgres: password authentication failed/],
      [{ database: 'nowhere' }, 'refused', /database "nowhere" does not exist/],
      [{ ssl: true }, 'refused', /does not support SSL/],
      [{ port: 1 }, 'unavailable', /ECONNREFUSED/],
    ];
    for (const [overrides, kind, message] of cases) {
      const store = await open(null, overrides);
      for (const failure of [await failureOf(store.migrate()), await failureOf(store.ping())]) {
        assert.equal(failure.detail.kind, kind);
        assert.match(failure.message, message);
      }
      await store.close();
    }
  });

  it('is used again, with its changes, when it is available again', async () => {
    const warnings: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => warnings.push(message) };
    const nodes = await openNodes(2, { log });
    const [a, b] = nodes;
    assert.ok(a && b);
    const first = notifiedOf(b, 1);
    const row = await insertRow(a, 'services', testRow({ name: 'kept' }));
    await first;
    await server.crash();
    assert.equal((await failureOf(insertRow(a, 'services', testRow()))).detail.kind, 'unavailable');
    assert.equal((await failureOf(b.get('services', row.id))).detail.kind, 'unavailable');
    await server.restart();
    const second = notifiedOf(b, 2);
    await insertRow(a, 'services', testRow());
    await second;
    assert.deepEqual(await b.get('services', row.id), row);
    assert.ok(warnings.some((warning) => warning.includes('change feed lost its connection')));
    await closeAll(nodes);
  });
});
