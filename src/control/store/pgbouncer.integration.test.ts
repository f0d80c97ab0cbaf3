import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import {
  type PoolMode,
  skipWithoutPgBouncer,
  startPgBouncer,
  type TestPgBouncer,
} from '../../../test/support/pgbouncer.ts';
import { skipWithoutPostgres, startPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import type { EntityDefinition } from '../../shared/entities/entity.ts';
import { insertRow } from './contract/store-bench.ts';
import { createStore, type StoreLog, type StoreOptions } from './create-store.ts';
import { describeStore, type StorePart } from './store.contract.ts';
import { testDefinitions, testRow } from './store.fixture.ts';
import { type Store, StoreError } from './store.ts';

const skip = skipWithoutPostgres() || skipWithoutPgBouncer();
let postgres: TestPostgres;
const poolers = new Map<PoolMode, TestPgBouncer>();
before(async () => {
  if (skip !== false) return;
  postgres = await startPostgres();
  for (const mode of ['transaction', 'session'] as const) poolers.set(mode, await startPgBouncer(postgres, mode));
});
after(async () => {
  for (const pooler of poolers.values()) await pooler.stop();
  await postgres?.stop();
});

let places = 0;
function newSchema(): string {
  places += 1;
  return `place "${places}"`;
}

interface OpenOptions {
  readonly definitions?: readonly EntityDefinition[];
  readonly keptChanges?: number;
  readonly log?: StoreLog;
  readonly timeout?: number;
}

function optionsOf(mode: PoolMode, schema: string, { timeout = 5000, ...options }: OpenOptions = {}): StoreOptions {
  const pooler = poolers.get(mode);
  assert.ok(pooler);
  return {
    kind: 'postgres',
    pg: { ...pooler.server, schema, ssl: false, sslVerify: false, timeout, poolSize: 4 },
    definitions: testDefinitions,
    ...options,
  };
}

function open(mode: PoolMode, schema: string, options: OpenOptions = {}): Promise<Store> {
  return createStore(optionsOf(mode, schema, options));
}

/** Directly, not through the pooler. */
async function query(text: string): Promise<readonly Record<string, unknown>[]> {
  const { host, port, user, password, database } = postgres;
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  const results = (await client.query(text)) as pg.QueryResult | pg.QueryResult[];
  await client.end();
  return [results].flat().at(-1)?.rows ?? [];
}

/**
 * In session mode a client has its own connection, as without PgBouncer. What can differ is the start of a connection, its notifications
 * and its locks.
 */
const sessionParts: readonly StorePart[] = ['rows', 'changes', 'migrations'];

for (const [mode, parts] of [['transaction'], ['session', sessionParts]] as const) {
  describeStore(
    `the PostgreSQL store through PgBouncer in ${mode} mode`,
    {
      newPlace: async () => newSchema(),
      execute: async (schema, statements) => {
        await query(['begin', `set search_path to ${pg.escapeIdentifier(schema)}`, ...statements, 'commit'].join(';'));
      },
      options: (schema, options) => optionsOf(mode, schema, options),
    },
    parts === undefined ? { skip } : { skip, parts },
  );
}

describe('several stores through PgBouncer in transaction mode', { skip }, () => {
  it('never use the schema of another one, and leave nothing on its connections', async () => {
    const schemas = [newSchema(), newSchema(), newSchema()];
    const stores = await Promise.all(schemas.map((schema) => open('transaction', schema)));
    await Promise.all(stores.map((store) => store.migrate()));
    const writes = stores.flatMap((store, at) =>
      Array.from({ length: 20 }, (_, i) => insertRow(store, 'services', testRow({ name: `${at}-${i}` }))),
    );
    const reads = stores.flatMap((store) => Array.from({ length: 50 }, () => store.list('services', { limit: 100 })));
    await Promise.all([...writes, ...reads]);
    for (const [at, store] of stores.entries()) {
      const rows = await store.list('services', { limit: 100 });
      assert.equal(rows.length, 20);
      assert.ok(rows.every((row) => String(row['name']).startsWith(`${at}-`)));
      await store.resetCounters([{ key: 'a', windowStart: 1 }]);
    }
    // Every connection of the pooler to the server.
    const pooler = poolers.get('transaction');
    assert.ok(pooler);
    const clients = Array.from({ length: 10 }, () => new pg.Client({ ...pooler.server }));
    await Promise.all(clients.map((client) => client.connect()));
    const settings = await Promise.all(
      clients.map(async (client) => {
        const { rows } = await client.query(
          `select pg_sleep(0.2), current_setting('search_path') as path, current_setting('statement_timeout') as bound,
            current_setting('synchronous_commit') as commit`,
        );
        return `${rows[0].path} ${rows[0].bound} ${rows[0].commit}`;
      }),
    );
    await Promise.all(clients.map((client) => client.end()));
    assert.deepEqual([...new Set(settings)], ['"$user", public 0 on']);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('have a bound for each statement', async () => {
    const schema = newSchema();
    const patient = await open('transaction', schema);
    await patient.migrate();
    const row = await insertRow(patient, 'services', testRow());
    const store = await open('transaction', schema, { timeout: 300 });
    const { host, port, user, password, database } = postgres;
    const blocker = new pg.Client({ host, port, user, password, database });
    await blocker.connect();
    await blocker.query(`begin; lock table ${pg.escapeIdentifier(schema)}.services in access exclusive mode`);
    const start = performance.now();
    for (const attempt of [() => store.get('services', row.id), () => insertRow(store, 'services', testRow())]) {
      await assert.rejects(attempt, (error) => error instanceof StoreError && error.detail.kind === 'unavailable');
    }
    assert.ok(performance.now() - start < 5000);
    // The server has ended them itself: nothing waits for the lock any more.
    const waiting = await query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
    assert.deepEqual(waiting, []);
    await blocker.query('rollback');
    await blocker.end();
    assert.deepEqual(await patient.get('services', row.id), row);
    await store.close();
    await patient.close();
  });
});
