import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { until } from '../../test/support/until.ts';
import { createEntityRegistry } from '../entities/registry.ts';
import { createStore } from '../store/create-store.ts';
import type { Store } from '../store/store.ts';
import type { SnapshotDelta, ToWorker } from '../workers/messages.ts';
import { type DeltaReceivers, Publisher, type PublisherOptions, type WorkerConfig } from './publisher.ts';
import { serviceRow } from './snapshot.fixtures.ts';

/** A data plane that takes over what it is sent when it is told to. */
class Receivers implements DeltaReceivers {
  readonly deltas: SnapshotDelta[] = [];
  config: SnapshotDelta | null = null;
  /** False: nothing is acknowledged. */
  quick = true;
  readonly #waiting = new Set<() => void>();

  configure(config: () => WorkerConfig): void {
    this.config = JSON.parse(config().json) as SnapshotDelta;
  }

  broadcast(message: ToWorker): void {
    if (message.type === 'delta') this.deltas.push(JSON.parse(message.json) as SnapshotDelta);
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

async function openStore(): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'sluicegate-publisher-'));
  opened.push({ close: () => rm(folder, { recursive: true, force: true }) });
  const store = await createStore({ kind: 'sqlite', file: join(folder, 'store.sqlite'), definitions });
  opened.push(store);
  await store.migrate();
  return store;
}

/** The store, with something between it and those who ask for changes. */
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

test('gives workers what is there, and afterwards only what changes', async () => {
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

test('many writes at once are carried in fewer deltas, in order, none lost', async () => {
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

test('is not done before every worker has taken the change over', async () => {
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

test('waits for a worker that does not answer only so long, and says so', async () => {
  const store = await openStore();
  const { workers, publisher, lines } = await start(store, { patience: 20 });
  workers.quick = false;
  const { version } = await insert(store, ids[0]);
  await publisher.published(version);
  assert.deepEqual(lines, ['not every worker has applied a change in time; its write is answered anyway']);
});

test('a store that cannot be read costs nothing but the change, and is read again', async () => {
  const store = await openStore();
  let broken = true;
  const flaky = withChanges(store, async (version, limit) => {
    if (broken) throw new Error('gone');
    return store.changesSince(version, limit);
  });
  const { workers, publisher, lines } = await start(flaky, { patience: 20 });
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
    return null;
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

test('a full comparison takes effect only when it is complete', async () => {
  const store = await openStore();
  let away = true;
  let rechecks = 0;
  const workers = new Receivers();
  const log = { log: () => {} };
  const publisher = new Publisher({
    store,
    workers,
    log,
    recheck: async () => {
      rechecks += 1;
      if (away) throw new Error('the store is away again');
    },
  });
  opened.push(publisher);
  await publisher.load();
  publisher.follow(true);
  await until(() => rechecks === 1);
  assert.equal(workers.deltas.length, 0);
  away = false;
  await insert(store, ids[0]);
  await until(() => workers.deltas.length > 0);
  assert.deepEqual(
    workers.deltas.slice(0, 1).map((delta) => delta.forgetAll),
    [true],
  );
});

test('a delta that could not be sent is sent again, and not reported as published before', async () => {
  const store = await openStore();
  let broken = false;
  const onDelta = (): void => {
    if (broken) throw new Error('no room');
  };
  const { workers, publisher, lines } = await start(store, { patience: 50, onDelta });
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

test('tells of entities that cannot be used, once, and forgets them when they are mended', async () => {
  const { publisher, lines } = await start(await openStore());
  const failure = { entity: 'routes', id: 'r', reason: 'odd' } as const;
  publisher.noteFailures([failure]);
  publisher.noteFailures([failure, failure]);
  assert.deepEqual([...publisher.failures], [['routes:r', 'odd']]);
  assert.deepEqual(lines, ['an entity cannot be used']);
  publisher.noteFailures([]);
  assert.equal(publisher.failures.size, 0);
});
