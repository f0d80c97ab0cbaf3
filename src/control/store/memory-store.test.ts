import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createStore } from './create-store.ts';
import { inMemory } from './sql/sqlite/in-memory.ts';
import { describeStore } from './store.contract.ts';
import { testDefinitions, testRow } from './store.fixture.ts';

// Without the parts that open a place twice, look into it from outside, or read in the middle of a write: that read would wait for it.
describeStore(
  'the SQLite store in memory',
  {
    newPlace: async () => inMemory,
    execute: () => Promise.reject(new Error('nothing else has access to it')),
    options: (file, options) => ({ kind: 'sqlite', file, ...options }),
  },
  { parts: ['many rows', 'constraints', 'lists', 'audit', 'nodes'] },
);

describe('the SQLite store in memory', () => {
  it('serves reads, writes and counters that come at once, and creates no file', async () => {
    const store = await createStore({ kind: 'sqlite', file: inMemory, definitions: testDefinitions });
    await store.migrate();
    const work = Array.from({ length: 20 }, (_, number) => [
      store.write((writer) => writer.insert('services', testRow({ name: `service-${number}` }))),
      store.dump(['services']),
      store.list('services', { limit: 10 }),
      store.version(),
    ]);
    await Promise.all(work.flat());
    assert.equal(await store.count('services'), 20);
    await store.close();
    assert.equal(existsSync(inMemory), false);
  });

  it('is another one each time', async () => {
    const [one, other] = await Promise.all(
      [1, 2].map(async () => {
        const store = await createStore({ kind: 'sqlite', file: inMemory, definitions: testDefinitions });
        await store.migrate();
        return store;
      }),
    );
    await one?.write((writer) => writer.insert('services', testRow()));
    assert.deepEqual([await one?.count('services'), await other?.count('services')], [1, 0]);
    await Promise.all([one?.close(), other?.close()]);
  });
});
