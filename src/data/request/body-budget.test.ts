import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyBudget } from './body-budget.ts';

function rig(total: number, perClient: number) {
  const seen = { refused: 0, began: [] as string[] };
  const budget = new BodyBudget({
    total,
    perClient,
    refused: () => seen.refused++,
    began: (client) => seen.began.push(client),
    ended: () => {},
  });
  return { budget, seen, [Symbol.dispose]: () => budget.close() };
}

const request = (clientIp: string) => ({ clientIp, heldBytes: 0, finished: false });

test('one client receives half of the memory, and more clients receive smaller shares', () => {
  using made = rig(1000, 0);
  const { budget } = made;
  const first = request('192.0.2.1');
  assert.equal(budget.reserve(first, 500), true);
  assert.equal(budget.reserve(first, 1), false);
  assert.equal(budget.reserve(request('192.0.2.2'), 250), true);
  assert.equal(budget.reserve(request('192.0.2.2'), 1), false);
  assert.equal(budget.reserve(request('192.0.2.3'), 126), false);
  assert.equal(budget.reserve(request('192.0.2.3'), 125), true);
  budget.release(first);
  assert.equal(budget.held, 375);
  assert.equal(budget.reserve(request('192.0.2.1'), 300), true);
});

test('a client stays within its own limit, over all its requests and addresses', () => {
  using made = rig(0, 100);
  const { budget, seen } = made;
  const one = request('2001:db8::1');
  assert.equal(budget.reserve(one, 60), true);
  assert.equal(budget.reserve(request('2001:db8::2'), 60), false);
  assert.equal(budget.reserve(request('2001:db8:0:1::2'), 60), true);
  assert.deepEqual(seen, { refused: 1, began: ['2001:db8::/64'] });
  budget.release(one);
  assert.equal(budget.reserve(request('2001:db8::2'), 100), true);
});

test('nothing is reserved for a request that has finished', () => {
  using made = rig(1000, 0);
  assert.equal(made.budget.reserve({ ...request('192.0.2.1'), finished: true }, 1), false);
  assert.equal(made.budget.held, 0);
});

test('optional reservations leave half of the memory free', () => {
  using made = rig(1000, 0);
  const { budget } = made;
  assert.equal(budget.reserveSpare(500), true);
  assert.equal(budget.reserveSpare(1), false);
  assert.equal(budget.reserve(request('192.0.2.1'), 250), true);
  budget.releaseSpare(500);
  assert.equal(budget.held, 250);
});
