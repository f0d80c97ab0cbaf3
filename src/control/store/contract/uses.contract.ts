import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { StoreBench } from './store-bench.ts';

export function registerUseTests(bench: StoreBench): void {
  it('notes a use without a change of the store, and never an earlier one', async () => {
    const store = await bench.fresh();
    const row = { id: '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10', created_at: 1, username: 'a', custom_id: null };
    await store.write((writer) => writer.insert('consumers', row));
    const before = await store.position();
    const noted = async (value: string): Promise<unknown> => {
      await store.noteUse('consumers', row.id, 'custom_id', value);
      return (await store.get('consumers', row.id))?.['custom_id'];
    };
    assert.equal(await noted('2026-01-02'), '2026-01-02');
    assert.equal(await noted('2026-01-01'), '2026-01-02');
    assert.equal(await noted('2026-01-03'), '2026-01-03');
    assert.deepEqual(await store.position(), before);
    await store.noteUse('consumers', '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c11', 'custom_id', 'x');
    await assert.rejects(store.noteUse('consumers', row.id, 'tags', 'x'), /no column/);
  });
}
