import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Row } from '../../../shared/entities/entity.ts';
import type { ConfigVersion, VersionQuery } from '../history.ts';
import { defineTestEntity, testDefinitions, testRow } from '../store.fixture.ts';
import type { Store } from '../store.ts';
import { deleteRow, insertRow, type StoreBench } from './store-bench.ts';

const versions = (store: Store): Promise<readonly ConfigVersion[]> => store.listVersions({ limit: 100 });

async function update(store: Store, entity: string, row: Row, actor = ''): Promise<number> {
  const { version } = await store.write(async (writer) => {
    if (actor !== '') writer.attribute({ actor, action: 'apply', note: 'from a file' });
    await writer.update(entity, row);
  });
  return version;
}

export function registerHistoryTests(bench: StoreBench): void {
  it('begins with the state before the first write', async () => {
    const store = await bench.fresh();
    assert.deepEqual(
      (await versions(store)).map(({ version, action }) => [version, action]),
      [[0, 'start']],
    );
    assert.deepEqual(await store.listVersionChanges(0, { after: -1, limit: 10 }), []);
  });

  it('keeps each write as a version: who made it, how much changed, and the rows before', async () => {
    const store = await bench.fresh();
    const first = await insertRow(store, 'services', testRow({ name: 'a', retries: 1 }));
    const version = await update(store, 'services', { ...first, retries: 2 }, 'ada');
    const kept = await store.getVersion(version);
    assert.deepEqual(kept, {
      version,
      createdAt: kept?.createdAt,
      actor: 'ada',
      action: 'apply',
      note: 'from a file',
      created: 0,
      updated: 1,
      deleted: 0,
    });
    const second = await store.get('services', first.id);
    await deleteRow(store, 'services', first.id);
    assert.deepEqual(await store.listVersionChanges(version, { after: -1, limit: 10 }), [
      { seq: 0, operation: 'update', entity: 'services', id: first.id, before: first, after: second },
    ]);
    const all = await versions(store);
    assert.deepEqual(
      all.map(({ action, created, updated, deleted }) => [action, created, updated, deleted]),
      [
        ['start', 0, 0, 0],
        ['write', 1, 0, 0],
        ['apply', 0, 1, 0],
        ['write', 0, 0, 1],
      ],
    );
    assert.deepEqual(
      (await store.listVersions({ order: 'desc', limit: 2, createdBefore: all[3]?.createdAt ?? 0 })).map(
        (found) => found.version,
      ),
      [all[2]?.version, all[1]?.version],
    );
  });

  it('keeps a row once, however often the write changed it, and what a deletion took with it', async () => {
    const store = await bench.fresh();
    const upstream = await insertRow(store, 'upstreams', testRow({ name: 'u' }));
    const target = await insertRow(store, 'targets', testRow({ target: 'a:1', upstream: { id: upstream.id } }));
    const { version } = await store.write(async (writer) => {
      await writer.update('upstreams', { ...upstream, slots: 1 });
      await writer.delete('upstreams', upstream.id);
      const fleeting = await writer.insert('services', testRow({ name: 'fleeting' }));
      await writer.delete('services', fleeting.id);
    });
    const changes = await store.listVersionChanges(version, { after: -1, limit: 10 });
    assert.deepEqual(
      changes.map(({ operation, entity, before }) => [operation, entity, before]),
      [
        ['delete', 'upstreams', upstream],
        ['delete', 'targets', target],
      ],
    );
  });

  it('leaves out what is not config, and failed writes', async () => {
    const place = await bench.newPlace();
    const state = defineTestEntity({ name: 'states', inConfig: false });
    const store = await bench.open(place, [...testDefinitions, state]);
    await store.migrate();
    await insertRow(store, 'states', testRow());
    const failed = store.write(async (writer) => {
      await writer.insert('services', testRow());
      throw new Error('no');
    });
    await assert.rejects(failed);
    assert.equal((await versions(store)).length, 1);
  });

  it('gives the rows of a version, also of thousands that changed since', async () => {
    const store = await bench.fresh();
    const service = await insertRow(store, 'services', testRow({ name: 'a', retries: 1 }));
    const gone = await insertRow(store, 'services', testRow({ name: 'gone' }));
    const version = await store.version();
    const fresh = Array.from({ length: 2500 }, (_, i) => testRow({ name: `s${i}` }));
    await store.write((writer) =>
      writer.writeRows([
        ...fresh.map((after) => ({ entity: 'services', before: null, after })),
        { entity: 'services', before: gone, after: null },
      ]),
    );
    await update(store, 'services', { ...service, retries: 2 });
    await update(store, 'services', { ...service, retries: 3 });
    const { result } = await store.write((writer) => writer.rowsSince(version));
    assert.equal(result.length, 2502);
    const of = (id: string) => result.find((row) => row.id === id);
    assert.deepEqual(of(service.id)?.was, service);
    assert.equal(of(service.id)?.now?.['retries'], 3);
    assert.deepEqual([of(gone.id)?.was, of(gone.id)?.now], [gone, null]);
    assert.deepEqual([of(fresh[7]?.id ?? '')?.was, of(fresh[7]?.id ?? '')?.now?.['name']], [null, 's7']);
  });

  it('finds versions by who made them, by what they changed and by their time', async () => {
    const store = await bench.fresh();
    const a = await insertRow(store, 'services', testRow({ name: 'a' }));
    await insertRow(store, 'upstreams', testRow({ name: 'u' }));
    const changed = await update(store, 'services', { ...a, retries: 2 }, 'ada');
    const all = await versions(store);
    const found = async (query: Omit<VersionQuery, 'limit'>): Promise<readonly number[]> =>
      (await store.listVersions({ ...query, limit: 100 })).map(({ version }) => version);
    assert.deepEqual(await found({ actor: 'ada' }), [changed]);
    assert.deepEqual(await found({ actor: 'bob' }), []);
    assert.deepEqual(await found({ entity: 'services' }), [all[1]?.version, changed]);
    assert.deepEqual(await found({ entity: 'services', id: a.id, order: 'desc' }), [changed, all[1]?.version]);
    assert.deepEqual(await found({ entity: 'upstreams', id: a.id }), []);
    assert.deepEqual(await found({ since: all[2]?.createdAt ?? 0 }), [all[2]?.version, changed]);
  });

  it('compares any two versions, in both directions', async () => {
    const store = await bench.fresh();
    const a = await insertRow(store, 'services', testRow({ name: 'a', retries: 1 }));
    const first = await store.version();
    const b = await insertRow(store, 'services', testRow({ name: 'b' }));
    const second = await update(store, 'services', { ...a, retries: 2 });
    await deleteRow(store, 'services', b.id);
    const third = await update(store, 'services', { ...a, retries: 3 });
    const between = async (from: number, to: number | null): Promise<readonly unknown[]> => {
      const shown = (row: Row | null): unknown => (row === null ? null : [row['name'], row['retries'] ?? null]);
      const rows = await store.rowsBetween(from, to);
      return rows.map(({ was, now }) => [shown(was), shown(now)]).sort();
    };
    const [one, two, three] = [1, 2, 3].map((retries) => ['a', retries]);
    const other = ['b', b['retries'] ?? null];
    assert.deepEqual(await between(first, second), [
      [null, other],
      [one, two],
    ]);
    assert.deepEqual(await between(second, first), [
      [two, one],
      [other, null],
    ]);
    assert.deepEqual(await between(second, null), [
      [two, three],
      [other, null],
    ]);
    assert.deepEqual(await between(second, third), await between(second, null));
    assert.deepEqual(await between(third, third), []);
  });

  it('is trimmed to a number of versions; the oldest remains as a state without rows', async () => {
    const store = await bench.fresh();
    let row = await insertRow(store, 'services', testRow({ name: 'a' }));
    for (let retries = 1; retries <= 4; retries++) {
      await update(store, 'services', { ...row, retries });
      row = (await store.get('services', row.id)) ?? row;
    }
    const all = await versions(store);
    assert.equal(all.length, 6);
    const trim = async (limits: { readonly keep: number; readonly before: number }): Promise<void> => {
      while ((await store.trimHistory(limits)) > 0);
    };
    await trim({ keep: 100, before: 0 });
    assert.equal((await versions(store)).length, 6);
    await trim({ keep: 3, before: 0 });
    const kept = await versions(store);
    assert.deepEqual(
      kept.map(({ version }) => version),
      all.slice(3).map(({ version }) => version),
    );
    assert.deepEqual(await store.listVersionChanges(kept[0]?.version ?? 0, { after: -1, limit: 10 }), []);
    assert.equal((await store.listVersionChanges(kept[1]?.version ?? 0, { after: -1, limit: 10 })).length, 1);
    await trim({ keep: 3, before: kept[2]?.createdAt ?? 0 });
    assert.deepEqual(
      (await versions(store)).map(({ version }) => version),
      kept.slice(1).map(({ version }) => version),
    );
    await trim({ keep: 3, before: Date.now() + 1e6 });
    assert.equal((await versions(store)).length, 1);
  });

  it('survives a restore that leaves it as it was: versions that the store never had are removed', async () => {
    const place = await bench.newPlace();
    const store = await bench.open(place);
    await store.migrate();
    const backup = await bench.backUp(place, ['services', 'changes', 'store_version']);
    for (const name of ['a', 'b', 'c']) await insertRow(store, 'services', testRow({ name }));
    await backup.restore();
    await store.close();
    const again = await bench.open(place);
    const row = await insertRow(again, 'services', testRow({ name: 'd' }));
    while ((await again.trimHistory({ keep: 100, before: 0 })) > 0);
    assert.deepEqual(
      (await versions(again)).map(({ version }) => version),
      [0, 1],
    );
    assert.equal((await again.listVersionChanges(1, { after: -1, limit: 10 }))[0]?.id, row.id);
  });
}
