import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BudgetTable, maxDebt, refillTime } from './budget-table.ts';

test('spends a budget, which refills with time', () => {
  const table = new BudgetTable(4);
  assert.equal(table.left('a', 0), 1);
  assert.equal(table.spend('a', 0.75, 0), 0.25);
  assert.equal(table.spend('a', 0.75, 0), -0.5);
  assert.equal(table.left('a', refillTime), 0.5);
  assert.equal(table.left('b', 0), 1);
});

test('a budget is overspent within bounds, so that it is whole again in bounded time', () => {
  const table = new BudgetTable(4);
  assert.equal(table.spend('a', 1000, 0), -maxDebt);
  assert.equal(table.left('a', (maxDebt + 1) * refillTime), 1);
});

test('a whole budget needs no memory', () => {
  const table = new BudgetTable(4);
  table.spend('a', 0.5, 0);
  assert.equal(table.size, 1);
  assert.equal(table.left('a', refillTime / 2), 1);
  assert.equal(table.size, 0);
});

test('a flood of names evicts none that has used up its budget, and needs no more memory', () => {
  const table = new BudgetTable(64);
  for (let at = 0; at < 5; at++) table.spend(`guilty ${at}`, 1, 0);
  for (let at = 0; at < 10_000; at++) table.spend(`newcomer ${at}`, 0.1, 1);
  assert.equal(table.size, 64);
  for (let at = 0; at < 5; at++) assert.ok(table.left(`guilty ${at}`, 1) < 0.01, `guilty ${at} was evicted`);
});

test('a name that continues is not evicted by names that are as guilty', () => {
  const table = new BudgetTable(16);
  for (let at = 0; at < 1000; at++) {
    table.spend('guilty', 1, at);
    table.spend(`other ${at}`, 1, at);
  }
  assert.ok(table.left('guilty', 1000) < 0.01);
});
