import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { LineGatherer } from './line-gatherer.ts';

function open(packetSize: number, groups = 1, delay = 60_000) {
  const packets: string[] = [];
  const gatherer = new LineGatherer({ packetSize, groups, delay, send: (packet) => packets.push(packet) });
  return { packets, gatherer };
}

test('packets are filled by bytes, not characters; a longer line is one by itself', () => {
  const { packets, gatherer } = open(9);
  for (const line of ['äö', 'aaaa', 'b', 'longer than it', 'c', 'd']) gatherer.add(line);
  gatherer.flush();
  assert.deepEqual(packets, ['äö\naaaa', 'b', 'longer than it', 'c\nd']);
  gatherer.flush();
  assert.equal(packets.length, 4);
});

test('what comes within a turn of the event loop goes together, without further groups to wait for', async () => {
  const { packets, gatherer } = open(100);
  gatherer.endGroup();
  for (const line of ['a', 'b']) {
    gatherer.add(line);
    gatherer.endGroup();
  }
  assert.deepEqual(packets, []);
  await turn();
  assert.deepEqual(packets, ['a\nb']);
  await turn();
  assert.equal(packets.length, 1);
});

test('groups are waited for, and not longer than the delay', async () => {
  const { packets, gatherer } = open(100, 2, 1);
  for (const line of ['a', 'b', 'c']) {
    gatherer.add(line);
    gatherer.endGroup();
  }
  assert.deepEqual(packets, ['a\nb']);
  while (packets.length < 2) await turn();
  assert.deepEqual(packets, ['a\nb', 'c']);
});
