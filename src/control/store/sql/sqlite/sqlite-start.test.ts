import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { assertStoreError, insertRow } from '../../contract/store-bench.ts';
import { createStore } from '../../create-store.ts';
import { testDefinitions, testRow } from '../../store.fixture.ts';
import type { Store } from '../../store.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluicegate-store-start-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const entities = testDefinitions.map(({ name }) => name);

let places = 0;
const newFile = (): string => {
  places += 1;
  return join(directory, `place-${places}`, 'sluicegate.db');
};
const open = (file: string): Promise<Store> => createStore({ kind: 'sqlite', file, definitions: testDefinitions });

/** A closed store with rows that a dump reads in several pages. */
async function createFilled(services: number): Promise<string> {
  const file = newFile();
  const store = await open(file);
  await store.migrate();
  await store.write(async (writer) => {
    const consumer = await writer.insert('consumers', testRow({ username: 'null and "quotes"', custom_id: null }));
    await writer.insert('tokens', testRow({ key: 'k', consumer: { id: consumer.id } }));
    for (let i = 0; i < services; i++) await writer.insert('services', testRow({ name: `s${i}`, tags: ['t'] }));
  });
  await store.close();
  return file;
}

describe('the start of a SQLite store', () => {
  it('reads the same rows as the store that has loaded all of its code', async () => {
    const store = await open(await createFilled(2500));
    await store.migrate();
    const first = await store.dump(entities);
    assert.equal(first.entities['services']?.length, 2500);
    assert.equal(await store.count('services'), 2500);
    assert.deepEqual(await store.dump(entities), first);
    const { version, stamp, store: identity } = first;
    assert.deepEqual(await store.position(), { store: identity, version, stamp });
    await store.close();
  });

  it('leaves one file when nothing else was done', async () => {
    const file = await createFilled(1);
    const store = await open(file);
    await store.ping();
    await store.migrate();
    await store.dump(entities);
    await store.close();
    assert.deepEqual(readdirSync(dirname(file)), ['sluicegate.db']);
    await assert.rejects(store.count('services'), /closed/);
  });

  it('waits for a process that upgrades the store, and then refuses it', async () => {
    const file = await createFilled(1);
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const store = await open(file);
    const migrated = assertStoreError(store.migrate(), { kind: 'newer-store', found: '9999-from-the-future' });
    const dump = store.dump(entities);
    other.exec(`insert into schema_migrations values ('9999-from-the-future', 0); commit`);
    other.close();
    await migrated;
    assert.equal((await dump).entities['services']?.length, 1);
    await store.close();
  });

  for (const [what, statement] of [
    ['a step', "delete from schema_migrations where name = '0002-limit-counters'; drop table limit_counters"],
    ['a table', "delete from entity_tables where entity = 'targets'; drop table targets"],
  ] as const) {
    it(`adds ${what} that is missing`, async () => {
      const file = await createFilled(1);
      const other = new DatabaseSync(file);
      other.exec(statement);
      other.close();
      const store = await open(file);
      await store.migrate();
      assert.deepEqual(await store.readCounters(['a']), []);
      const upstream = await insertRow(store, 'upstreams', testRow({ name: 'u' }));
      const target = testRow({ target: 'a', upstream: { id: upstream.id } });
      assert.equal((await insertRow(store, 'targets', target))['target'], 'a');
      assert.equal((await store.list('targets', { where: { target: 'a' }, limit: 2 })).length, 1);
      await store.close();
    });
  }

  it('notifies those who subscribed before all code was loaded, until they unsubscribe', async () => {
    const store = await open(await createFilled(1));
    let ended = 0;
    store.subscribe(() => ended++)();
    const changed = new Promise<void>((resolve) => store.subscribe(resolve));
    await insertRow(store, 'services', testRow({ name: 'new' }));
    await changed;
    assert.equal(ended, 0);
    await store.close();
  });

  it('assigns no version that it has seen to another change, after an older backup was restored', async () => {
    const file = await createFilled(1);
    const backup = new DatabaseSync(file);
    backup.exec(`vacuum into '${file}.backup'`);
    backup.close();
    const before = await open(file);
    for (const name of ['a', 'b']) await insertRow(before, 'services', testRow({ name }));
    await before.close();
    const store = await open(file);
    await store.migrate();
    const { version } = await store.dump(entities);
    renameSync(`${file}.backup`, file);
    const { version: next } = await store.write((writer) => writer.insert('services', testRow({ name: 'c' })));
    assert.equal(next, version + 1);
    await store.close();
  });
});
