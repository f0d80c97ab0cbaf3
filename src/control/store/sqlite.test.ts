import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { assertStoreError, insertRow } from './contract/store-bench.ts';
import { createStore } from './create-store.ts';
import { createSqlStore } from './sql/sql-store.ts';
import { openSqliteBackend } from './sql/sqlite/sqlite-backend.ts';
import { describeStore } from './store.contract.ts';
import { testDefinitions, testRow } from './store.fixture.ts';
import { type Store, StoreError } from './store.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluicegate-store-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const silent = { info: () => undefined, warn: () => undefined };

let places = 0;
const newFile = (): string => {
  places += 1;
  return join(directory, `place-${places}`, 'sluicegate.db');
};
const open = (file: string): Promise<Store> => createStore({ kind: 'sqlite', file, definitions: testDefinitions });

describeStore('the SQLite store', {
  newPlace: async () => newFile(),
  execute: async (file, statements) => {
    const database = new DatabaseSync(file);
    database.exec(['begin immediate', ...statements, 'commit'].join(';'));
    database.close();
  },
  options: (file, options) => ({ kind: 'sqlite', file, ...options }),
});

describe('the SQLite file', () => {
  it('is readable only by its owner, with its companion files', async () => {
    const file = newFile();
    const store = await open(file);
    await store.migrate();
    for (const path of [file, `${file}-wal`]) assert.equal(statSync(path).mode & 0o777, 0o600);
    await store.close();
  });

  it('is one file again when it is closed, also when nothing was written since it was opened', async () => {
    const file = newFile();
    const first = await open(file);
    await first.migrate();
    await first.close();
    const second = await open(file);
    assert.equal(await second.version(), 0);
    await second.close();
    assert.deepEqual(readdirSync(dirname(file)), ['sluicegate.db']);
  });

  it('is unchanged when a newer version has created it', async () => {
    const file = newFile();
    const store = await open(file);
    await store.migrate();
    await store.close();
    const database = new DatabaseSync(file);
    database.exec(`insert into schema_migrations values ('9999-from-the-future', 0)`);
    const dump = (): unknown => database.prepare('select * from sqlite_schema').all();
    const before = dump();
    const older = await open(file);
    await assertStoreError(older.migrate(), { kind: 'newer-store', found: '9999-from-the-future' });
    assert.deepEqual(dump(), before);
    database.close();
    await older.close();
  });

  it('that cannot be created is refused in one line with its name', async () => {
    const blocker = join(directory, 'not-a-directory');
    writeFileSync(blocker, '');
    await assertRefused(join(blocker, 'sluicegate.db'));
  });

  it('that is not a database is refused in one line with its name', async () => {
    const file = join(directory, 'notes.txt');
    writeFileSync(file, 'this is not a database, whatever its name says'.repeat(100));
    await assertRefused(file, /the file is not a database/);
  });

  it('locked by another process makes a write wait', async () => {
    const file = newFile();
    const store = await open(file);
    await store.migrate();
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const write = store.write((writer) => writer.insert('services', testRow()));
    await store.ping();
    assert.equal(await store.count('services'), 0);
    other.exec('commit');
    other.close();
    await write;
    assert.equal(await store.count('services'), 1);
    await store.close();
  });

  it('locked for too long makes a write fail as unavailable, and the next one is served', async () => {
    const file = newFile();
    const store = createSqlStore(openSqliteBackend(file, { log: silent, lockTimeout: 20 }), {
      definitions: testDefinitions,
      log: silent,
      keptChanges: 100,
    });
    await store.migrate();
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    const insert = (): Promise<unknown> => store.write((writer) => writer.insert('services', testRow()));
    await assertStoreError(insert(), { kind: 'unavailable' });
    other.exec('rollback');
    other.close();
    await insert();
    await store.close();
  });
});

describe('a SQLite file that is replaced while it is open', () => {
  interface Replaced {
    readonly store: Store;
    readonly file: string;
    readonly warnings: readonly string[];
    /** Resolves when subscribers were called after the replacement. */
    readonly noticed: () => Promise<void>;
  }

  async function replaceWithBackup(): Promise<Replaced> {
    const file = newFile();
    const warnings: string[] = [];
    const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
    const store = await createStore({ kind: 'sqlite', file, definitions: testDefinitions, log });
    await store.migrate();
    await insertRow(store, 'services', testRow({ name: 'kept' }));
    const backup = new DatabaseSync(file);
    backup.exec(`vacuum into '${file}.backup'`);
    backup.close();
    await insertRow(store, 'services', testRow({ name: 'lost' }));
    const lost = await store.position();
    const noticed = new Promise<void>((resolve, reject) => {
      store.subscribe(() => {
        store.position().then(({ stamp }) => {
          if (stamp !== lost.stamp) resolve();
        }, reject);
      });
    });
    renameSync(`${file}.backup`, file);
    return { store, file, warnings, noticed: () => noticed };
  }

  const names = async (store: Store): Promise<readonly unknown[]> =>
    (await store.list('services', { limit: 10 })).map((row) => row['name']);

  it('is opened again, and the old log is not applied to it', async () => {
    const { store, file, warnings, noticed } = await replaceWithBackup();
    await noticed();
    assert.deepEqual(await names(store), ['kept']);
    assert.deepEqual(warnings, [`the store file ${file} was replaced; using the new file`]);
    await insertRow(store, 'services', testRow({ name: 'new' }));
    await store.close();
    const again = await open(file);
    assert.deepEqual(await names(again), ['kept', 'new']);
    await again.close();
    const database = new DatabaseSync(file);
    assert.deepEqual({ ...database.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' });
    database.close();
  });

  it('receives a write that arrives before the replacement is detected', async () => {
    const { store, file } = await replaceWithBackup();
    await insertRow(store, 'services', testRow({ name: 'new' }));
    await store.close();
    const again = await open(file);
    assert.deepEqual(await names(again), ['kept', 'new']);
    await again.close();
  });

  it('makes a write fail that had begun before', async () => {
    const file = newFile();
    const store = await open(file);
    await store.migrate();
    const backup = new DatabaseSync(file);
    backup.exec(`vacuum into '${file}.backup'`);
    backup.close();
    const write = store.write(async (writer) => {
      await writer.insert('services', testRow({ name: 'lost' }));
      renameSync(`${file}.backup`, file);
    });
    await assertStoreError(write, { kind: 'unavailable' });
    await insertRow(store, 'services', testRow({ name: 'new' }));
    assert.deepEqual(await names(store), ['new']);
    await store.close();
  });

  it('accepts no write while there is no file of that name, and is used again afterwards', async () => {
    const file = newFile();
    const store = await open(file);
    await store.migrate();
    renameSync(file, `${file}.moved`);
    await assertStoreError(insertRow(store, 'services', testRow({ name: 'lost' })), { kind: 'unavailable' });
    renameSync(`${file}.moved`, file);
    await insertRow(store, 'services', testRow({ name: 'new' }));
    assert.deepEqual(await names(store), ['new']);
    await store.close();
  });
});

async function assertRefused(file: string, message = /./): Promise<void> {
  await assert.rejects(open(file), (error) => {
    assert.ok(error instanceof StoreError);
    assert.equal(error.detail.kind, 'refused');
    assert.ok(error.message.includes(file));
    assert.doesNotMatch(error.message, /\n/);
    assert.match(error.message, message);
    return true;
  });
}
