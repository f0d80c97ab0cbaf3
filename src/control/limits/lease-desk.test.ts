import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseRequest } from '../../shared/limits/lease.ts';
import { LeaseDesk } from './lease-desk.ts';

const request: LeaseRequest = { windows: [], wanted: 1, unit: 1, force: false };
const lease = { granted: 1, used: [1], before: [0] };

test('tells the workers how many nodes carry requests, as the store last knew', async () => {
  let fails = false;
  const asked: unknown[] = [];
  const desk = new LeaseDesk({
    leaseCounters: async () => (fails ? Promise.reject(new Error('down')) : [lease]),
    countNodes: async (roles, within) => {
      asked.push([roles, within]);
      return 2;
    },
  });
  await desk.lease([request]);
  assert.deepEqual(await desk.lease([request]), [{ ...lease, nodes: 2 }]);
  assert.deepEqual(asked, [[['traditional', 'data_plane'], 15_000]]);
  fails = true;
  await assert.rejects(desk.lease([request]), /down/);
});

test('waits for what is on its way when the node stops', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly (typeof lease)[]>();
  const desk = new LeaseDesk({
    leaseCounters: () => promise,
    countNodes: async () => Promise.reject(new Error('down')),
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
  assert.deepEqual(await leased, [lease], 'the number of nodes is unknown');
});
