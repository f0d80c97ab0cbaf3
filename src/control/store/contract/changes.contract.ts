import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { testDefinitions, testRow } from '../store.fixture.ts';
import type { Store } from '../store.ts';
import { changesAfter, deleteRow, insertRow, type StoreBench } from './store-bench.ts';

function nextCall(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = store.subscribe(() => {
      unsubscribe();
      resolve();
    });
  });
}

export function registerChangeTests(bench: StoreBench): void {
  it('assigns each change its own version, and the write the last of them', async () => {
    const store = await bench.fresh();
    assert.equal(await store.version(), 0);
    const { version } = await store.write(async (writer) => {
      await writer.insert('services', testRow({ name: 'a' }));
      await writer.insert('services', testRow({ name: 'b' }));
    });
    assert.equal(version, 2);
    assert.equal(await store.version(), 2);
    const reading = await store.write((writer) => writer.count('services'));
    assert.deepEqual(reading, { result: 2, version: 2 });
  });

  it('commits writes that wait together, each with its own version and time, and rolls back only those that fail', async () => {
    const store = await bench.fresh();
    const began = await store.position();
    let commits = 0;
    store.subscribe(() => commits++);
    const begin = Promise.withResolvers<void>();
    const first = store.write(async (writer) => {
      await begin.promise;
      return writer.insert('services', testRow({ name: 'first' }));
    });
    const later = Array.from({ length: 20 }, (_, i) =>
      store.write(async (writer) => {
        const row = await writer.insert('services', testRow({ name: `s${i}` }));
        // Not awaited: the pending operations of a failed write must not become part of the next one.
        void writer.insert('services', testRow({ name: `extra${i}` })).catch(() => undefined);
        if (i % 4 === 1) throw new Error(`no ${i}`);
        if (i % 4 === 2) await writer.insert('services', testRow({ name: `s${i}` }));
        return row;
      }),
    );
    begin.resolve();
    await first;
    const begun = performance.now();
    const outcomes = await Promise.allSettled(later);
    // A transaction accepts writes for 50 ms, so a slow machine needs more of them.
    const allowed = 3 + Math.floor((performance.now() - begun) / 50);
    assert.ok(commits <= allowed, `${commits} commits, ${allowed} allowed`);
    const kept = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    assert.equal(kept.length, 10);
    assert.deepEqual(
      outcomes.map(({ status }, i) => (i % 4 === 1 || i % 4 === 2 ? status === 'rejected' : status === 'fulfilled')),
      outcomes.map(() => true),
    );
    assert.equal(await store.count('services'), 21);
    assert.deepEqual(
      kept.map(({ version }) => version),
      kept.map((_, i) => 3 + 2 * i),
    );
    assert.equal(await store.version(), 21);
    const times = kept.map(({ result }) => result.created_at);
    assert.deepEqual(
      times,
      [...new Set(times)].toSorted((a, b) => a - b),
    );
    const changes = (await changesAfter(store, began)).slice(1);
    assert.deepEqual(
      changes.filter((_, i) => i % 2 === 0).map(({ id }) => id),
      kept.map(({ result }) => result.id),
    );
  });

  it('returns the changes after a version in order, with the current rows', async () => {
    const store = await bench.fresh();
    const began = await store.position();
    const a = await insertRow(store, 'services', testRow({ name: 'a' }));
    const b = await insertRow(store, 'services', testRow({ name: 'b' }));
    const { result: newA } = await store.write((writer) => writer.update('services', { ...a, host: 'h' }));
    await deleteRow(store, 'services', b.id);
    const upsert = { entity: 'services', operation: 'upsert' } as const;
    assert.deepEqual(await changesAfter(store, began), [
      { version: 1, ...upsert, id: a.id, row: newA },
      { version: 2, ...upsert, id: b.id, row: null },
      { version: 3, ...upsert, id: a.id, row: newA },
      { version: 4, entity: 'services', operation: 'delete', id: b.id, row: null },
    ]);
    const end = await store.position();
    assert.deepEqual(await store.changesSince(end, 100), { changes: [], position: end });
  });

  it('returns changes in batches, each with the position at which the next one begins', async () => {
    const store = await bench.fresh();
    const began = await store.position();
    await store.write(async (writer) => {
      for (let i = 0; i < 3; i += 1) await writer.insert('services', testRow());
    });
    await insertRow(store, 'services', testRow());
    const seen: number[] = [];
    let position = began;
    for (let i = 0; i < 4; i += 1) {
      const batch = await store.changesSince(position, 1);
      assert.ok(typeof batch !== 'string', String(batch));
      seen.push(...batch.changes.map(({ version }) => version));
      position = batch.position;
    }
    assert.deepEqual(seen, [1, 2, 3, 4]);
    assert.deepEqual(position, await store.position());
  });

  it('returns the same changes to the node that made them as to others', async () => {
    const place = await bench.newPlace();
    const store = await bench.open(place);
    await store.migrate();
    const other = await bench.open(place);
    const kept = await insertRow(store, 'services', testRow({ name: 'kept', tags: ['a'] }));
    const consumer = await insertRow(store, 'consumers', testRow({ username: 'ada' }));
    await insertRow(store, 'tokens', testRow({ key: 'k', consumer: { id: consumer.id } }));
    const began = await store.position();
    await store.write(async (writer) => {
      await writer.update('services', { ...kept, tags: ['b'] });
      const gone = await writer.insert('services', testRow({ name: 'gone' }));
      await writer.update('services', { ...kept, retries: 7 });
      await writer.delete('services', gone.id);
      await writer.delete('consumers', consumer.id);
      await writer.writeRows([{ entity: 'upstreams', before: null, after: testRow({ name: 'u' }) }]);
    });
    for (const limit of [2, 3, 100]) {
      let position = began;
      for (let batches = 0; ; batches++) {
        const [own, others] = await Promise.all([store, other].map((node) => node.changesSince(position, limit)));
        assert.deepEqual(own, others);
        assert.ok(typeof own === 'object' && batches < 10);
        if (own.changes.length < limit) break;
        position = own.position;
      }
    }
    // After a commit of another node, what the first one knows is no longer what is stored.
    const middle = await store.position();
    await store.write((writer) => writer.update('services', { ...kept, retries: 8 }));
    await other.write((writer) => writer.update('services', { ...kept, retries: 9 }));
    for (const position of [began, middle]) {
      assert.deepEqual(await store.changesSince(position, 100), await other.changesSince(position, 100));
    }
  });

  it('has an identity of its own', async () => {
    const [one, two] = [await (await bench.fresh()).position(), await (await bench.fresh()).position()];
    assert.notEqual(one.store, two.store);
    assert.notEqual(one.stamp, two.stamp);
  });

  it('has no history for a version that it has not reached', async () => {
    const store = await bench.fresh();
    const position = await store.position();
    assert.equal(await store.changesSince({ ...position, version: 1 }, 100), 'rewritten');
  });

  it('has no history for another store, or for a version that other changes led to', async () => {
    const store = await bench.fresh();
    await insertRow(store, 'services', testRow());
    const past = await store.position();
    for (let i = 0; i < 2; i += 1) {
      assert.equal(await store.changesSince({ ...past, stamp: 'other' }, 100), 'rewritten');
      assert.equal(await store.changesSince({ ...past, store: 'other' }, 100), 'rewritten');
      await insertRow(store, 'services', testRow());
    }
    assert.equal((await changesAfter(store, past)).length, 2);
  });

  it('does not assign a version again that it had before an older copy was restored', async () => {
    const place = await bench.newPlace();
    const store = await bench.open(place);
    await store.migrate();
    const began = await store.position();
    await insertRow(store, 'services', testRow());
    const backup = await bench.backUp(place, ['services', 'changes', 'store_version']);
    const copied = await store.position();
    await insertRow(store, 'services', testRow());
    const lost = await store.position();
    const follower = await bench.open(place);
    assert.deepEqual(await follower.changesSince(lost, 10), { changes: [], position: lost });
    await backup.restore();
    assert.equal(await store.changesSince(lost, 10), 'rewritten');
    assert.deepEqual(await store.position(), copied);
    const called = nextCall(follower);
    const { version } = await store.write((writer) => writer.insert('services', testRow({ name: 'new' })));
    await called;
    assert.ok(version > lost.version, `${version}`);
    for (const node of [store, follower]) {
      assert.equal(await node.changesSince(lost, 10), 'rewritten');
      assert.deepEqual(
        (await changesAfter(node, copied)).map(({ row }) => row?.['name']),
        ['new'],
      );
      assert.equal((await changesAfter(node, began)).length, 2);
    }
  });

  it('calls subscribers after a restore that has reached the same version by other changes', async () => {
    const place = await bench.newPlace();
    const [store, follower] = [await bench.open(place), await bench.open(place)];
    await store.migrate();
    const backup = await bench.backUp(place, ['services', 'changes', 'store_version']);
    await insertRow(store, 'services', testRow());
    const lost = await follower.position();
    await backup.restore();
    // A node without the earlier history.
    const fresh = await bench.open(place);
    await insertRow(fresh, 'services', testRow());
    assert.equal(await fresh.version(), lost.version);
    await new Promise<void>((resolve, reject) => {
      const unsubscribe = follower.subscribe(() => {
        follower.changesSince(lost, 10).then((batch) => {
          if (batch !== 'rewritten') return;
          unsubscribe();
          resolve();
        }, reject);
      });
    });
  });

  it('removes old changes, and reports it', async () => {
    const store = await bench.open(await bench.newPlace(), testDefinitions, { keptChanges: 5 });
    await store.migrate();
    const began = await store.position();
    const row = await insertRow(store, 'services', testRow({ name: 'a' }));
    const first = await store.position();
    for (let i = 0; i < 4; i += 1) await store.write((writer) => writer.update('services', row));
    assert.equal((await changesAfter(store, began)).length, 5);
    await store.write((writer) => writer.update('services', row));
    assert.equal(await store.changesSince(began, 10), 'trimmed');
    assert.equal((await changesAfter(store, first)).length, 5);
    const sixth = await store.position();
    await store.write(async (writer) => {
      for (let i = 0; i < 12; i += 1) await writer.update('services', row);
    });
    assert.equal(await store.changesSince(sixth, 10), 'trimmed');
    const { stamp } = await store.position();
    assert.equal((await changesAfter(store, { ...sixth, version: 13, stamp })).length, 5);
  });

  it('dumps every row of the given entities, as of one version', async () => {
    const store = await bench.fresh();
    const service = await insertRow(store, 'services', testRow({ name: 'a' }));
    const route = await insertRow(store, 'routes', testRow({ service: { id: service.id } }));
    assert.deepEqual(await store.dump(['routes', 'services', 'consumers']), {
      ...(await store.position()),
      version: 2,
      entities: { routes: [route], services: [service], consumers: [] },
    });
  });

  it('never shows a part of a transaction in a dump', async () => {
    const store = await bench.fresh();
    const writePairs = async (): Promise<void> => {
      for (let i = 0; i < 15; i += 1) {
        await store.write(async (writer) => {
          await writer.insert('services', testRow());
          await writer.insert('consumers', testRow());
        });
      }
    };
    let writing = true;
    const writes = writePairs().finally(() => {
      writing = false;
    });
    while (writing) {
      const { version, entities } = await store.dump(['services', 'consumers']);
      assert.equal(entities['services']?.length, entities['consumers']?.length);
      assert.equal(version, 2 * (entities['services']?.length ?? 0));
      // SQLite reads synchronously: the writes would never run.
      await nextTurn();
    }
    await writes;
  });

  it('calls subscribers after a commit is visible, until they unsubscribe', async () => {
    const store = await bench.fresh();
    const seen: Promise<number>[] = [];
    const unsubscribe = store.subscribe(() => {
      seen.push(store.version());
    });
    const called = nextCall(store);
    await insertRow(store, 'services', testRow());
    await called;
    unsubscribe();
    // It may be called more often than there are commits, and reads each time.
    const versions = await Promise.all(seen);
    assert.equal(versions.at(-1), 1);
    const calledAgain = nextCall(store);
    await insertRow(store, 'services', testRow());
    await calledAgain;
    assert.equal(seen.length, versions.length);
  });

  it('still calls the other subscribers when one throws', async () => {
    const store = await bench.fresh();
    store.subscribe(() => {
      throw new Error('a bad subscriber');
    });
    const called = nextCall(store);
    await insertRow(store, 'services', testRow());
    await called;
  });
}
