import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, countersRows, createCounters, resetGauges, sumCounter, workerCounters } from './counters.ts';

test('sums a counter over the rows of all workers', () => {
  const memory = createCounters(3);
  for (let worker = 0; worker < 3; worker++) workerCounters(memory, worker)[Counter.requests] = worker + 1;
  assert.equal(sumCounter(memory, Counter.requests), 6);
  assert.equal(sumCounter(memory, Counter.retries), 0);
  assert.equal(countersRows(memory), 3);
});

test('keeps totals and clears gauges when a worker has ended', () => {
  const memory = createCounters(2);
  const row = workerCounters(memory, 1);
  row[Counter.requests] = 10;
  row[Counter.connectionsActive] = 4;
  workerCounters(memory, 0)[Counter.connectionsActive] = 1;
  resetGauges(memory, 1);
  assert.equal(sumCounter(memory, Counter.requests), 10);
  assert.equal(sumCounter(memory, Counter.connectionsActive), 1);
});

test('gives every worker its own cache lines', () => {
  const memory = createCounters(2);
  assert.equal(workerCounters(memory, 1).byteOffset % 64, 0);
  assert.ok(workerCounters(memory, 1).byteOffset >= workerCounters(memory, 0).byteLength);
});

test('has a separate slot for every counter', () => {
  const places = Object.values(Counter);
  assert.equal(new Set(places).size, places.length);
  assert.ok(Math.max(...places) < workerCounters(createCounters(1), 0).length);
});
