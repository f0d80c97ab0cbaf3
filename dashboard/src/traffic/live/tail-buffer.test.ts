import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TrafficRecord } from '../records.ts';
import { maxRecords, TailBuffer } from './tail-buffer.ts';

function record(number: number): TrafficRecord {
  const at = new Date(1_800_000_000_000 + number).toISOString();
  return { id: `r${number}`, at } as TrafficRecord;
}

function numbers(buffer: TailBuffer): readonly number[] {
  return buffer.shown.map(({ id }) => Number(id.slice(1)));
}

test('shows each record once, newest first, whether a list or an event brought it', () => {
  const buffer = new TailBuffer();
  buffer.add(record(3));
  buffer.addAll([record(3), record(2), record(1)]);
  assert.equal(buffer.waiting, 3);
  assert.ok(buffer.show());
  assert.deepEqual(numbers(buffer), [3, 2, 1]);
  buffer.addAll([record(3), record(2)]);
  buffer.add(record(4));
  assert.ok(buffer.show());
  assert.deepEqual(numbers(buffer), [4, 3, 2, 1]);
  assert.equal(buffer.show(), false);
});

test('is bounded, shown and waiting: the oldest leave, and may come again', () => {
  const buffer = new TailBuffer();
  for (let at = 0; at < maxRecords * 3; at++) buffer.add(record(at));
  assert.ok(buffer.waiting <= maxRecords * 1.25);
  buffer.show();
  assert.equal(buffer.shown.length, maxRecords);
  assert.equal(numbers(buffer)[0], maxRecords * 3 - 1);
  buffer.add(record(0));
  assert.equal(buffer.waiting, 1);
  buffer.clear();
  assert.equal(buffer.waiting + buffer.shown.length, 0);
});
