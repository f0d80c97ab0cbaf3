import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PostedRecord } from '../../shared/traffic/traffic-record.ts';
import { TrafficRing } from './traffic-ring.ts';

function posted(id: string, bytes = 10): PostedRecord {
  return [JSON.stringify({ id }), 'x'.repeat(bytes), ''];
}

function ids(ring: TrafficRing, order: 'asc' | 'desc', after: number | null = null): readonly string[] {
  return [...ring.walk(order, after)].map(({ entry }) => entry.id);
}

describe('the ring', () => {
  it('keeps the newest, in both orders', () => {
    const ring = new TrafficRing(3, 1_000_000);
    for (const id of ['a', 'b', 'c', 'd', 'e']) ring.add(posted(id));
    assert.deepEqual(ids(ring, 'asc'), ['c', 'd', 'e']);
    assert.deepEqual(ids(ring, 'desc'), ['e', 'd', 'c']);
    assert.equal(ring.get('b'), null);
    assert.equal(ring.get('d')?.entry.id, 'd');
    assert.equal(ring.size, 3);
  });

  it('continues after a record, also after one that is gone', () => {
    const ring = new TrafficRing(3, 1_000_000);
    const [a] = ['a', 'b', 'c'].map((id) => ring.add(posted(id)));
    const serial = a?.serial ?? 0;
    assert.deepEqual(ids(ring, 'asc', serial), ['b', 'c']);
    assert.deepEqual(ids(ring, 'desc', serial + 2), ['b', 'a']);
    for (const id of ['d', 'e']) ring.add(posted(id));
    assert.deepEqual(ids(ring, 'asc', serial), ['c', 'd', 'e']);
    assert.deepEqual(ids(ring, 'desc', serial), []);
    assert.deepEqual(ids(ring, 'asc', serial + 1_000), []);
    assert.deepEqual(ids(ring, 'desc', serial + 1_000), ['e', 'd', 'c']);
  });

  it('never takes more memory than it may, unless one record does', () => {
    const ring = new TrafficRing(1_000, 20_000);
    for (let at = 0; at < 100; at++) {
      ring.add(posted(`r${at}`, 3_000));
      assert.ok(ring.bytes <= 20_000, String(ring.bytes));
    }
    assert.deepEqual(ids(ring, 'desc').slice(0, 2), ['r99', 'r98']);
    ring.add(posted('large', 50_000));
    assert.deepEqual(ids(ring, 'asc'), ['large']);
    ring.add(posted('small'));
    assert.deepEqual(ids(ring, 'asc'), ['small']);
  });

  it('is empty after it was cleared, and continues', () => {
    const ring = new TrafficRing(3, 1_000_000);
    for (const id of ['a', 'b']) ring.add(posted(id));
    ring.clear();
    assert.deepEqual([ids(ring, 'asc'), ring.size, ring.bytes, ring.get('a')], [[], 0, 0, null]);
    ring.add(posted('c'));
    assert.deepEqual(ids(ring, 'desc'), ['c']);
  });

  it('finds the newest of two records with one id', () => {
    const ring = new TrafficRing(2, 1_000_000);
    const first = ring.add(posted('a'));
    const second = ring.add(posted('a'));
    assert.equal(ring.get('a')?.serial, second.serial);
    assert.notEqual(first.serial, second.serial);
    ring.add(posted('b'));
    assert.equal(ring.get('a')?.serial, second.serial);
    ring.add(posted('c'));
    assert.equal(ring.get('a'), null);
  });
});
