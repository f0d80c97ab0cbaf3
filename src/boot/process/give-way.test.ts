import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { Counter, createCounters, workerCounters } from '../../shared/zones/counters.ts';
import { givesWay } from './give-way.ts';

const linuxOnly = process.platform === 'linux' ? false : 'only Linux tells how often a thread has slept';

/** How often this thread sleeps in 30 ms of work with so many requests between two steps. */
function restsWith(requests: number): number {
  const counters = createCounters(2);
  const row = workerCounters(counters, 1);
  const giveWay = givesWay(counters);
  const [before, end] = [sleeps(), cpuTime() + 30];
  while (cpuTime() < end) {
    row[Counter.requests]! += requests;
    giveWay();
  }
  return sleeps() - before;
}

function sleeps(): number {
  const status = readFileSync('/proc/thread-self/status', 'utf8');
  return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
}

test('a thread rests often in the course of its work while requests arrive, and not without them', {
  skip: linuxOnly,
}, () => {
  const [busy, idle] = [restsWith(1), restsWith(0)];
  assert.ok(busy >= 20, `${busy} rests with requests`);
  assert.ok(idle < busy / 4, `${idle} rests without requests`);
});
