import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeenChecksums } from './redis-locks.ts';

test('a lookup counts although the request tries to lock seconds later, and others have looked in between', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const seen = new SeenChecksums();
  seen.add('k', '');
  now = 5_000;
  seen.add('k', 'stored in between');
  assert.equal(seen.get('k'), '');
  seen.delete('k');
  seen.add('k', 'stored in between');
  assert.equal(seen.get('k'), 'stored in between');
});
