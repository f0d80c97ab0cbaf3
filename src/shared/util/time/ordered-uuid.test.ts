import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderedUuid } from './ordered-uuid.ts';

const at = Date.UTC(2026, 0, 1);

test('ids have the form of version 4, and differ in their first 48 bits', () => {
  const ids = Array.from({ length: 10_000 }, () => orderedUuid(at));
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(ids.map((id) => id.slice(0, 13))).size, ids.length);
  // The rest is random.
  assert.equal(new Set(ids.map((id) => id.slice(14))).size, ids.length);
});

test('ids of a later second come later', () => {
  const ids = [0, 1, 100, 1e6, 1e8].map((seconds) => orderedUuid(at + seconds * 1000));
  assert.deepEqual(ids.toSorted(), ids);
});
