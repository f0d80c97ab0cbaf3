import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedCache } from './bounded-cache.ts';

test('it never holds more than its size, and keeps entries that are used', () => {
  const cache = new BoundedCache<number, string>(100);
  cache.set(-1, 'kept');
  for (let at = 0; at < 10_000; at++) {
    cache.set(at, 'passing');
    assert.equal(cache.get(-1), 'kept');
    assert.ok(cache.size <= 100);
  }
  assert.equal(cache.get(0), undefined);
  assert.equal(cache.get(9_999), 'passing');
});

test('a value that is set again replaces the one of either generation', () => {
  const cache = new BoundedCache<string, number>(4);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.set('a', 3);
  assert.equal(cache.get('a'), 3);
  assert.equal(cache.delete('a'), true);
  assert.equal(cache.get('a'), undefined);
  assert.equal(cache.delete('a'), false);
  cache.clear();
  assert.equal(cache.size, 0);
});

test('every evicted entry is reported once', () => {
  const gone: string[] = [];
  const cache = new BoundedCache<string, number>(4, (key, value) => gone.push(`${key}${value}`));
  cache.set('a', 1);
  cache.set('a', 2);
  assert.deepEqual(gone, ['a1']);
  for (const key of ['b', 'c', 'd', 'e']) cache.set(key, 0);
  cache.clear();
  assert.deepEqual(gone.toSorted(), ['a1', 'a2', 'b0', 'c0', 'd0', 'e0']);
});
