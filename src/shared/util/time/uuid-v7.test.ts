import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uuidV7 } from './uuid-v7.ts';

test('ids are UUIDs of version 7 whose text grows with the time, and with the index within one instant', () => {
  const at = Date.UTC(2026, 0, 1);
  const ids = [uuidV7(at, 0), uuidV7(at, 1), uuidV7(at, 4095), uuidV7(at + 1, 0), uuidV7(at + 100_000, 0)];
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(ids.toSorted(), ids);
});
