import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LimitHits } from './limit-hits.ts';

test('hits are added up by instance for a minute, the latest first', () => {
  let now = 1_000_000_000;
  const hits = new LimitHits(() => now);
  hits.add([
    ['rate-limiting', 'rejected', 3, 'a'],
    ['rate-limiting', 'delayed', 2, 'a'],
    ['throttling', 'rejected', 1, 'b'],
    // No limit, and no instance.
    ['http-log', 'entries_sent', 5, ''],
    ['http-log', 'entries_sent', 5, 'c'],
  ]);
  now += 35_000;
  hits.add([['rate-limiting', 'rejected', 4, 'a']]);
  assert.deepEqual(hits.recent(), [
    { plugin: 'rate-limiting', instance: 'a', counts: { rejected: 7, delayed: 2 }, at: now },
    { plugin: 'throttling', instance: 'b', counts: { rejected: 1 }, at: now - 35_000 },
  ]);
  now += 30_000;
  assert.deepEqual(
    hits.recent().map(({ instance, counts }) => [instance, counts]),
    [['a', { rejected: 4 }]],
  );
  now += 60_000;
  assert.deepEqual(hits.recent(), []);
});

test('a clock that is set back loses hits rather than showing them forever', () => {
  let now = 1_000_000_000;
  const hits = new LimitHits(() => now);
  hits.add([['throttling', 'delayed', 1, 'a']]);
  now -= 3_600_000;
  assert.deepEqual(hits.recent(), []);
});

test('there are never more than 1,000 instances; those that were hit longest ago are evicted', () => {
  const hits = new LimitHits();
  for (let at = 0; at < 3_000; at++) hits.add([['throttling', 'rejected', 1, `i${at}`]]);
  const recent = hits.recent();
  assert.equal(recent.length, 1_000);
  assert.equal(recent[0]?.instance, 'i2999');
  assert.equal(recent.at(-1)?.instance, 'i2000');
});
