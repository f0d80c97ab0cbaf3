import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { skipWithoutPgBouncer, startPgBouncer } from '../../../test/support/pgbouncer.ts';
import {
  postgresSettings,
  skipWithoutPostgres,
  startPostgres,
  type TestPostgres,
} from '../../../test/support/postgres.ts';
import { startStallingProxy } from '../../../test/support/stalling-proxy.ts';
import { until } from '../../../test/support/until.ts';
import { insertRow } from './contract/store-bench.ts';
import { createStore, type StoreLog } from './create-store.ts';
import { testDefinitions, testRow } from './store.fixture.ts';
import { type Store, StoreError } from './store.ts';

const timeout = 500;
/** Milliseconds in which a call fails when nothing answers: it waits for a connection, then for an answer. */
const bound = 2 * (timeout + 1000) + 2000;

const skip = skipWithoutPostgres() || skipWithoutPgBouncer();

async function isUnavailable(promise: Promise<unknown>): Promise<boolean> {
  try {
    await promise;
    return false;
  } catch (error) {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.detail.kind, 'unavailable', error.message);
    return true;
  }
}

/** The store works: it writes, and another one sees it. */
async function worksAgain(writer: Store, reader: Store): Promise<void> {
  let row = testRow();
  await until(async () => {
    row = testRow();
    return !(await isUnavailable(insertRow(writer, 'services', row)));
  }, 20_000);
  await until(async () => {
    try {
      return (await reader.get('services', row.id)) !== null;
    } catch (error) {
      if (error instanceof StoreError) return false;
      throw error;
    }
  }, 20_000);
}

describe('a PostgreSQL that fails', { skip }, () => {
  let server: TestPostgres;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());

  let places = 0;
  async function openTwo(ports: readonly [number, number], log?: StoreLog): Promise<readonly [Store, Store]> {
    places += 1;
    const schema = `faults${places}`;
    const [a, b] = await Promise.all(
      ports.map(async (port) => {
        const pg = { ...postgresSettings(server, timeout), port, schema };
        const store = await createStore({ kind: 'postgres', pg, definitions: testDefinitions, ...(log && { log }) });
        await store.migrate();
        return store;
      }),
    );
    assert.ok(a && b);
    return [a, b];
  }

  /** Milliseconds until `reader` is notified of a write of `writer`. */
  async function delayOf(writer: Store, reader: Store): Promise<number> {
    const before = await writer.version();
    const begun = performance.now();
    let unsubscribe = (): void => undefined;
    const seen = new Promise<number>((resolve, reject) => {
      unsubscribe = reader.subscribe(() => {
        reader.version().then((version) => version > before && resolve(performance.now() - begun), reject);
      });
    });
    await insertRow(writer, 'services', testRow());
    const delay = await seen;
    unsubscribe();
    return delay;
  }

  it('and hangs is reported within the timeout, and used again when it goes on', async () => {
    const [a, b] = await openTwo([server.port, server.port]);
    b.subscribe(() => undefined);
    await worksAgain(a, b);
    server.freeze();
    const begun = performance.now();
    const failed = await Promise.all([
      isUnavailable(a.list('services', { limit: 1 })),
      isUnavailable(insertRow(a, 'services', testRow())),
      isUnavailable(b.ping()),
    ]);
    assert.deepEqual(failed, [true, true, true]);
    assert.ok(performance.now() - begun < bound);
    server.thaw();
    await worksAgain(a, b);
    server.freeze();
    const closing = performance.now();
    await Promise.all([a.close(), b.close()]);
    assert.ok(performance.now() - closing < 5000, 'a store is closed in time');
    server.thaw();
  });

  it('behind a PgBouncer that hangs is reported within the timeout, and used again when it goes on', async () => {
    const pooler = await startPgBouncer(server, 'transaction');
    const [a, b] = await openTwo([pooler.server.port, pooler.server.port]);
    b.subscribe(() => undefined);
    await worksAgain(a, b);
    pooler.freeze();
    const begun = performance.now();
    const failed = [
      isUnavailable(a.list('services', { limit: 1 })),
      isUnavailable(insertRow(b, 'services', testRow())),
    ];
    assert.deepEqual(await Promise.all(failed), [true, true]);
    assert.ok(performance.now() - begun < bound);
    pooler.thaw();
    await worksAgain(a, b);
    await pooler.crash();
    assert.equal(await isUnavailable(insertRow(a, 'services', testRow())), true);
    await pooler.restart();
    await worksAgain(a, b);
    await Promise.all([a.close(), b.close()]);
    await pooler.stop();
  });

  it('and is back for one second several times is used at last', async () => {
    const [a, b] = await openTwo([server.port, server.port]);
    b.subscribe(() => undefined);
    await worksAgain(a, b);
    let writing = true;
    let confirmed: string[] = [];
    const writes = (async () => {
      while (writing) {
        const row = testRow();
        try {
          await insertRow(a, 'services', row);
          confirmed = [...confirmed, row.id];
        } catch (error) {
          assert.ok(error instanceof StoreError && error.detail.kind === 'unavailable', String(error));
          await wait(20);
        }
      }
    })();
    for (let round = 0; round < 3; round++) {
      await server.crash();
      await wait(200);
      await server.restart();
      await wait(1000);
    }
    await worksAgain(a, b);
    writing = false;
    await writes;
    for (const id of confirmed) assert.notEqual(await b.get('services', id), null);
    await Promise.all([a.close(), b.close()]);
  });

  it('and has become read-only is left with all connections after the first refused write', async () => {
    const [a, b] = await openTwo([server.port, server.port]);
    // As many connections as the pool has.
    await Promise.all(Array.from({ length: 20 }, () => a.list('services', { limit: 1 })));
    const admin = new pg.Client({ ...postgresSettings(server), database: server.database } as pg.ClientConfig);
    await admin.connect();
    // What a standby answers. New connections lead to the new primary: here, the setting is back by then.
    const database = pg.escapeIdentifier(server.database);
    await admin.query(`alter database ${database} set default_transaction_read_only to on`);
    const [old] = await openConnectionsAgain(a, admin);
    assert.ok(old !== undefined && old > 0);
    await admin.query('begin read write');
    await admin.query(`alter database ${database} reset default_transaction_read_only`);
    await admin.query('commit');
    assert.equal(await isUnavailable(insertRow(a, 'services', testRow())), true);
    // Every further write works at once, however many connections were idle.
    for (let write = 0; write < 10; write++) await insertRow(a, 'services', testRow());
    await worksAgain(a, b);
    await admin.end();
    await Promise.all([a.close(), b.close()]);
  });

  /** Replaces the connections of a store by ones that were opened now; returns how many there are. */
  async function openConnectionsAgain(store: Store, admin: pg.Client): Promise<readonly number[]> {
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluicegate' and pid <> pg_backend_pid()`,
    );
    await until(async () => {
      try {
        await Promise.all(Array.from({ length: 8 }, () => store.list('services', { limit: 1 })));
        return true;
      } catch {
        return false;
      }
    });
    const { rows } = await admin.query(
      `select count(*)::int as n from pg_stat_activity where application_name = 'sluicegate'`,
    );
    return rows.map(({ n }) => Number(n));
  }

  it('whose notifications stop without a sign is followed within the bound of the polls', async () => {
    const proxy = await startStallingProxy(server, { mark: 'listen sluicegate_changes' });
    const [a, b] = await openTwo([server.port, proxy.port]);
    b.subscribe(() => undefined);
    // By notifications: faster than slow polls would be, several times in a row.
    await until(async () => {
      const delays = [await delayOf(a, b), await delayOf(a, b), await delayOf(a, b)];
      return delays.every((delay) => delay < 200);
    }, 20_000);
    proxy.stallMarked();
    const first = await delayOf(a, b);
    assert.ok(first < 1500, `${first} ms`);
    for (let write = 0; write < 5; write++) {
      const delay = await delayOf(a, b);
      assert.ok(delay < 1500, `${delay} ms`);
      await wait(100);
    }
    await Promise.all([a.close(), b.close()]);
    await proxy[Symbol.asyncDispose]();
  });
});
