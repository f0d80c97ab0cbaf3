import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseRequest } from '../../shared/limits/lease.ts';
import { LeaseDesk } from './lease-desk.ts';

const request: LeaseRequest = { windows: [], wanted: 1, unit: 1, force: false };
const lease = { granted: 1, used: [1], before: [0] };

function report(id: string, seenAt: number, role: string) {
  return { id, seenAt, data: JSON.stringify({ id, role }) };
}

test('tells the workers how many nodes carry requests, as the store last knew', async () => {
  let fails = false;
  const nodes = [
    report('a', 99_000, 'traditional'),
    report('b', 90_000, 'data_plane'),
    report('silent', 80_000, 'traditional'),
    report('c', 99_000, 'control_plane'),
    { id: 'broken', seenAt: 99_000, data: 'no JSON' },
  ];
  const desk = new LeaseDesk({
    leaseCounters: async () => (fails ? Promise.reject(new Error('down')) : [lease]),
    readNodes: async () => ({ now: 100_000, nodes }),
  });
  await desk.lease([request]);
  assert.deepEqual(await desk.lease([request]), [{ ...lease, nodes: 2 }]);
  fails = true;
  await assert.rejects(desk.lease([request]), /down/);
});

test('waits for what is on its way when the node stops', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly (typeof lease)[]>();
  const desk = new LeaseDesk({
    leaseCounters: () => promise,
    readNodes: async () => Promise.reject(new Error('down')),
  });
  let settled = false;
  const leased = desk.lease([request]);
  const end = desk.settled().then(() => {
    settled = true;
  });
  await new Promise((next) => setImmediate(next));
  assert.equal(settled, false);
  resolve([lease]);
  await end;
  assert.deepEqual(await leased, [{ ...lease, nodes: 1 }]);
});
