import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { serviceRow } from '../../data/snapshot/snapshot.fixture.ts';
import { createEntityRegistry } from '../../shared/entities/registry.ts';
import type { SnapshotDelta, ToWorker } from '../../shared/messages/messages.ts';
import { createStore } from '../store/create-store.ts';
import type { Store } from '../store/store.ts';
import { Publisher } from './publisher.ts';
import type { DeltaReceivers, PublisherOptions, WorkerConfig } from './publisher-options.ts';

function entitiesOf({ upserts, removes }: SnapshotDelta): readonly string[] {
  return [...Object.values(upserts).flatMap((rows) => rows.map(({ id }) => id)), ...Object.values(removes).flat()];
}

/** A data plane that applies messages when the test says so. */
class Receivers implements DeltaReceivers {
  readonly deltas: SnapshotDelta[] = [];
  readonly messages: { readonly entities: number; readonly more: boolean }[] = [];
  config: SnapshotDelta | null = null;
  /** False: nothing is acknowledged. */
  quick = true;
  readonly #waiting = new Set<() => void>();

  configure(config: () => WorkerConfig): void {
    this.config = JSON.parse(config().json) as SnapshotDelta;
  }

  broadcast(message: ToWorker): void {
    if (message.type !== 'delta') return;
    const delta = JSON.parse(message.json) as SnapshotDelta;
    this.deltas.push(delta);
    this.messages.push({ entities: entitiesOf(delta).length, more: message.more === true });
  }

  settled(_version: number, timeout: number): Promise<boolean> {
    if (this.quick) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeout);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  lagging(): readonly number[] {
    return this.quick ? [] : [1];
  }

  acknowledge(): void {
    for (const resolve of this.#waiting) resolve();
  }
}

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const { definitions } = createEntityRegistry({ names: () => [], describe: () => null });

async function openStore(options: { readonly keptChanges?: number } = {}): Promise<Store> {
  return (await openFile(options)).store;
}

async function openFile(
  options: { readonly keptChanges?: number } = {},
): Promise<{ readonly store: Store; readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluicegate-publisher-'));
  opened.push({ close: () => rm(folder, { recursive: true, force: true }) });
  const file = join(folder, 'store.sqlite');
  const store = await createStore({ kind: 'sqlite', file, definitions, ...options });
  opened.push(store);
  await store.migrate();
  return { store, file };
}

/** The store, with a proxy in front of its changes. */
function withChanges(store: Store, changesSince: Store['changesSince']): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'changesSince') return changesSince;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function start(store: Store, options: Partial<PublisherOptions> = {}) {
  const workers = new Receivers();
  const lines: string[] = [];
  const log = { log: (_level: string, message: string) => void lines.push(message) };
  const publisher = new Publisher({ store, workers, log, ...options });
  opened.push(publisher);
  await publisher.load();
  publisher.follow();
  return { workers, publisher, lines };
}

const ids = ['0a000000-0000-4000-8000-000000000001', '0a000000-0000-4000-8000-000000000002'] as const;

function insert(store: Store, id: string, port = 80): Promise<{ readonly version: number }> {
  return store.write((writer) => writer.insert('services', serviceRow(id, { name: `s-${id}`, port })));
}

test('sends workers the whole config, and then only changes', async () => {
  const store = await openStore();
  await insert(store, ids[0]);
  const { workers, publisher } = await start(store);
  assert.deepEqual(
    workers.config?.upserts.services?.map(({ id }) => id),
    [ids[0]],
  );
  const { version } = await insert(store, ids[1]);
  await publisher.published(version);
  assert.deepEqual(
    workers.deltas.flatMap((delta) => delta.upserts.services?.map(({ id }) => id) ?? []),
    [ids[1]],
  );
  const removed = await store.write((writer) => writer.delete('services', ids[0]));
  await publisher.published(removed.version);
  assert.deepEqual(workers.deltas.at(-1)?.removes.services, [ids[0]]);
});

test('many simultaneous writes are sent in fewer deltas, in order, none lost', async () => {
  const store = await openStore();
  const { workers, publisher } = await start(store);
  await insert(store, ids[0]);
  const writes = Array.from({ length: 50 }, async (_, port) => {
    const { version } = await store.write((writer) =>
      writer.update('services', serviceRow(ids[0], { name: 'busy', port })),
    );
    await publisher.published(version);
  });
  await Promise.all(writes);
  assert.ok(workers.deltas.length <= 51);
  const versions = workers.deltas.map(({ version }) => version);
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  );
  const stored = await store.get('services', ids[0]);
  assert.equal(workers.deltas.at(-1)?.upserts.services?.[0]?.['port'], stored?.['port']);
});

for (const kept of ['kept', 'no longer kept'] as const) {
  test(`the changes of one transaction take effect together, in messages of bounded size, when they are ${kept}`, async () => {
    const store = await openStore(kept === 'kept' ? {} : { keptChanges: 100 });
    const { workers, publisher } = await start(store);
    const rows = Array.from({ length: 700 }, () => serviceRow(randomUUID())).map((row) => ({ ...row, name: row.id }));
    const { version } = await store.write((writer) =>
      writer.writeRows(rows.map((after) => ({ entity: 'services', before: null, after }))),
    );
    await publisher.published(version);
    assert.equal(workers.messages.filter(({ more }) => !more).length, 1);
    assert.equal(workers.messages.at(-1)?.more, false);
    assert.ok(workers.messages.every(({ entities }) => entities <= 256));
    assert.deepEqual(workers.deltas.flatMap(entitiesOf).sort(), rows.map(({ id }) => id).sort());
    await insert(store, ids[0]);
    await until(() => workers.messages.length > 3);
    assert.deepEqual(workers.messages.at(-1), { entities: 1, more: false });
  });
}

test('resolves only when every worker has applied the change', async () => {
  const store = await openStore();
  const { workers, publisher } = await start(store);
  workers.quick = false;
  const { version } = await insert(store, ids[0]);
  let done = false;
  const published = publisher.published(version).then(() => {
    done = true;
  });
  while (workers.deltas.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(done, false);
  workers.acknowledge();
  await published;
});

test('waits for a worker that does not answer until a timeout, and logs it', async () => {
  const store = await openStore();
  const { workers, publisher, lines } = await start(store, { ackTimeout: 20 });
  workers.quick = false;
  const { version } = await insert(store, ids[0]);
  await publisher.published(version);
  assert.deepEqual(lines, ['not every worker has applied a change in time; its write is answered anyway']);
});

test('a store that cannot be read delays only the change, and is read again', async () => {
  const store = await openStore();
  let broken = true;
  const flaky = withChanges(store, async (version, limit) => {
    if (broken) throw new Error('gone');
    return store.changesSince(version, limit);
  });
  const { workers, publisher, lines } = await start(flaky, { ackTimeout: 20 });
  const { version } = await insert(store, ids[0]);
  await publisher.published(version);
  assert.equal(workers.deltas.length, 0);
  assert.ok(lines[0]?.startsWith('the store cannot be read'));
  broken = false;
  await insert(store, ids[1]);
  while (workers.deltas.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(workers.deltas[0]?.upserts.services?.length, 2);
});

test('compares everything with the store when its history is gone', async () => {
  const store = await openStore();
  await insert(store, ids[0]);
  let lost = false;
  const forgetful = withChanges(store, async (version, limit) => {
    if (!lost) return store.changesSince(version, limit);
    lost = false;
    return 'trimmed' as const;
  });
  const { workers, publisher } = await start(forgetful);
  lost = true;
  const { version } = await insert(store, ids[1]);
  await publisher.published(version);
  assert.deepEqual(
    workers.deltas.map((delta) => delta.upserts.services?.map(({ id }) => id)),
    [[ids[1]]],
  );
});

/** Takes a copy of the store's file, and returns the function that puts its rows back, as a restore does. */
async function takeBackup(): Promise<{ readonly store: Store; readonly restore: () => void }> {
  const { store, file } = await openFile();
  const copy = `${file}.backup`;
  const run = (path: string, sql: string): void => {
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
  };
  run(file, `vacuum into '${copy}'`);
  return {
    store,
    restore: () => {
      const tables = ['services', 'changes', 'store_version'].map(
        (table) => `delete from main.${table}; insert into main.${table} select * from backup.${table};`,
      );
      run(file, `attach '${copy}' as backup; begin immediate; ${tables.join('')} commit;`);
    },
  };
}

const restoredLine = 'the database was restored or replaced; the whole config was read from it again';

for (const writes of [0, 1, 2, 3]) {
  test(`follows a store that was restored and has had ${writes} other changes since`, async () => {
    const { store, restore } = await takeBackup();
    const { workers, publisher, lines } = await start(store, { restorePause: 60_000 });
    await publisher.published((await insert(store, ids[0])).version);
    await publisher.published((await insert(store, ids[1])).version);
    restore();
    const other = '0a000000-0000-4000-8000-00000000000';
    for (let i = 0; i < writes; i += 1) {
      const { version } = await insert(store, `${other}${i + 3}`);
      await publisher.published(version);
      assert.ok(
        workers.deltas.some(({ upserts }) => upserts.services?.some(({ id }) => id === `${other}${i + 3}`)),
        'a write is answered after the workers have it',
      );
    }
    await until(() => lines.includes(restoredLine));
    const sent = workers.deltas.map(({ version }) => version);
    assert.deepEqual(
      sent,
      [...new Set(sent)].toSorted((a, b) => a - b),
      'workers can compare versions',
    );
    assert.deepEqual(
      publisher.config().upserts.services?.map(({ id }) => id),
      Array.from({ length: writes }, (_, i) => `${other}${i + 3}`),
    );
    assert.deepEqual(publisher.position, await store.position());
  });
}

test('compares again after a restore until the rows stay as they are', async () => {
  const { store, restore } = await takeBackup();
  const { publisher, lines } = await start(store, { restorePause: 20 });
  await publisher.published((await insert(store, ids[0])).version);
  restore();
  await until(() => lines.includes('the config was compared with the store'));
  assert.equal(lines.filter((line) => line === restoredLine).length, 1);
});

test('a copy of the config from a store that was replaced is compared, and the log says so', async () => {
  const store = await openStore();
  await insert(store, ids[0]);
  const workers = new Receivers();
  const lines: string[] = [];
  const log = { log: (_level: string, message: string) => void lines.push(message) };
  const publisher = new Publisher({ store, workers, log });
  opened.push(publisher);
  publisher.begin({ ...(await store.dump([])), store: 'another', entities: { services: [serviceRow(ids[1])] } });
  await publisher.published(1);
  assert.deepEqual(
    workers.deltas.map(({ upserts, removes }) => [upserts.services?.map(({ id }) => id), removes.services]),
    [[[ids[0]], [ids[1]]]],
  );
  assert.deepEqual(lines, [restoredLine]);
});

test('a full comparison takes effect only when it is complete', async () => {
  const store = await openStore();
  let unavailable = true;
  let rechecks = 0;
  const workers = new Receivers();
  const log = { log: () => {} };
  const publisher = new Publisher({
    store,
    workers,
    log,
    recheck: async () => {
      rechecks += 1;
      if (unavailable) throw new Error('the store is unavailable again');
    },
  });
  opened.push(publisher);
  await publisher.load();
  publisher.follow(true);
  await until(() => rechecks === 1);
  assert.equal(workers.deltas.length, 0);
  unavailable = false;
  await insert(store, ids[0]);
  await until(() => workers.deltas.length > 0);
  assert.deepEqual(
    workers.deltas.slice(0, 1).map((delta) => delta.invalidateAll),
    [true],
  );
});

test('a delta that could not be sent is sent again, and not reported as published before', async () => {
  const store = await openStore();
  let broken = false;
  const onDelta = (): void => {
    if (broken) throw new Error('no room');
  };
  const { workers, publisher, lines } = await start(store, { ackTimeout: 50, onDelta });
  broken = true;
  const { version } = await insert(store, ids[0]);
  await publisher.published(version);
  assert.ok(lines.includes('not every worker has applied a change in time; its write is answered anyway'));
  assert.equal(workers.deltas.length, 0);
  broken = false;
  await insert(store, ids[1]);
  await until(() => workers.deltas.length > 0);
  assert.deepEqual(workers.deltas[0]?.upserts.services?.map(({ id }) => id).sort(), [...ids]);
});

test('logs entities that cannot be used, once, and removes them when they are fixed', async () => {
  const { publisher, lines } = await start(await openStore());
  const failure = { entity: 'routes', id: 'r', reason: 'odd' } as const;
  publisher.noteFailures([failure]);
  publisher.noteFailures([failure, failure]);
  assert.deepEqual([...publisher.failures], [['routes:r', 'odd']]);
  assert.deepEqual(lines, ['an entity cannot be used']);
  publisher.noteFailures([]);
  assert.equal(publisher.failures.size, 0);
});

test('reports what it has read: each batch of changes, and each comparison', async () => {
  const store = await openStore();
  await insert(store, ids[0]);
  const workers = new Receivers();
  const publisher = new Publisher({ store, workers, log: { log: () => {} } });
  opened.push(publisher);
  const events: unknown[] = [];
  const end = publisher.onStored((event) => {
    events.push(event.kind === 'config' ? [event.kind, event.changed] : [event.kind, event.batch.changes.length]);
    const { position } = event.kind === 'config' ? event : event.batch;
    assert.deepEqual(position, publisher.position, 'it has what it reports');
  });
  await publisher.load();
  publisher.follow();
  const { version } = await store.write(async (writer) => {
    await writer.insert('services', serviceRow(ids[1], { name: 'other' }));
    const consumer = { id: '0a000000-0000-4000-8000-000000000003', created_at: 0, username: 'ada', custom_id: null };
    await writer.insert('consumers', consumer);
  });
  assert.ok(await publisher.reached(version, 5000));
  assert.deepEqual(events, [
    ['config', true],
    ['changes', 2],
  ]);
  end();
  const later = await store.write((writer) => writer.delete('services', ids[1]));
  assert.ok(await publisher.reached(later.version, 5000));
  assert.equal(events.length, 2);
});

test('continues with a config of its store without reading it again', async () => {
  const store = await openStore();
  await insert(store, ids[0]);
  const copy = await store.dump(['services']);
  const { version } = await insert(store, ids[1]);
  const dumps: unknown[] = [];
  const watched = new Proxy(store, {
    get(target, name) {
      if (name === 'dump') dumps.push(name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const publisher = new Publisher({ store: watched, workers: new Receivers(), log: { log: () => {} } });
  opened.push(publisher);
  publisher.resume(copy);
  publisher.follow();
  assert.ok(await publisher.reached(version, 5000));
  assert.equal(publisher.config().upserts.services?.length, 2);
  assert.deepEqual(dumps, []);
});

test('applies a batch that is larger than its limit, as a store may return it', async () => {
  const store = await openStore();
  const position = { ...(await store.position()), version: 300_000, stamp: 'later' };
  const changes = Array.from({ length: 300_000 }, (_, i) => ({
    version: i + 1,
    entity: 'consumers',
    id: String(i),
    operation: 'delete' as const,
    row: null,
  }));
  const large = withChanges(store, async (since) =>
    since.version === 0 ? { changes, position } : { changes: [], position },
  );
  const { publisher, lines } = await start(large);
  assert.ok(await publisher.reached(position.version, 20_000), lines.join());
});
