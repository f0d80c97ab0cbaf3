import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CircuitChange, CircuitOptions } from '../../plugin-sdk/circuits.ts';
import { ZoneTable } from '../zones/zone-table.ts';
import { ZoneCircuits } from './zone-circuits.ts';

const defaults: CircuitOptions = {
  namespace: 't',
  zone: 'z',
  window: 10_000,
  minCalls: 10,
  errorRatio: 0.5,
  slowRatio: 0,
  consecutive: 0,
  pause: 1_000,
  pauseMax: 8_000,
  trials: 2,
  ramp: 0,
  random: () => 0.5,
};

function circuits(options: Partial<CircuitOptions> = {}) {
  const clock = { now: 1_000_000 };
  const memory = new SharedArrayBuffer(65_536);
  const make = (worker: number) =>
    new ZoneCircuits(new ZoneTable(memory, worker), { ...defaults, now: () => clock.now, ...options });
  return { clock, one: make(0), other: make(1) };
}

function fail(circuit: ZoneCircuits, times: number): CircuitChange | null {
  let change: CircuitChange | null = null;
  for (let round = 0; round < times; round++) change = circuit.report('k', 'failure', false) ?? change;
  return change;
}

test('opens on the ratio of errors, on all workers at once, and not before there were enough calls', () => {
  const { one, other } = circuits();
  assert.equal(fail(one, 4), null);
  for (let round = 0; round < 5; round++) assert.equal(other.report('k', 'success', false), null);
  assert.ok(one.admit('k').admitted);
  assert.deepEqual(other.report('k', 'failure', false), { state: 'open', reason: 'error-ratio', pause: 1_000 });
  assert.equal(one.admit('k').admitted, false);
  assert.ok(one.admit('another key').admitted);
});

test('opens on failures in a row, which a success ends', () => {
  const { one } = circuits({ consecutive: 3, errorRatio: 0 });
  fail(one, 2);
  one.report('k', 'success', false);
  assert.equal(fail(one, 2), null);
  assert.equal(fail(one, 1)?.reason, 'consecutive-failures');
});

test('opens on the ratio of slow calls', () => {
  const { one } = circuits({ slowRatio: 0.8 });
  for (let round = 0; round < 9; round++) assert.equal(one.report('k', 'slow', false), null);
  assert.equal(one.report('k', 'slow', false)?.reason, 'slow-ratio');
});

test('gradually drops what is older than the window', () => {
  const { one, clock } = circuits();
  fail(one, 9);
  clock.now += 20_000;
  assert.equal(fail(one, 1), null);
  // Half of the previous window still counts.
  const later = circuits();
  later.clock.now = 1_000_000;
  fail(later.one, 9);
  later.clock.now = 1_015_000;
  assert.equal(fail(later.one, 5), null);
  assert.equal(fail(later.one, 1)?.reason, 'error-ratio');
});

test('accepts so many trials after the pause, and closes when all have passed', () => {
  const { one, other, clock } = circuits();
  fail(one, 10);
  clock.now += 999;
  assert.equal(other.admit('k').admitted, false);
  clock.now += 1;
  const first = other.admit('k');
  assert.deepEqual(first.change, { state: 'half-open', reason: 'pause-over', pause: 0 });
  assert.ok(first.trial);
  assert.ok(one.admit('k').trial);
  assert.equal(one.admit('k').admitted, false, 'both trials are under way');
  assert.equal(one.report('k', 'success', true), null);
  assert.equal(one.admit('k').admitted, false, 'one has passed, one is under way');
  assert.deepEqual(other.report('k', 'success', true), { state: 'closed', reason: 'trials-passed', pause: 0 });
  assert.equal(one.admit('k').trial, false);
  assert.equal(fail(one, 9), null, 'earlier calls do not count');
});

test('waits twice as long each time that a trial fails, up to the maximum', () => {
  const { one, clock } = circuits();
  let change = fail(one, 10);
  const pauses: number[] = [];
  for (let round = 0; round < 5; round++) {
    pauses.push(change?.pause ?? 0);
    clock.now += change?.pause ?? 0;
    assert.ok(one.admit('k').trial);
    change = one.report('k', 'failure', true);
    assert.equal(change?.reason, 'trial-failed');
  }
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 8_000]);
});

test('abandons trials without a report', () => {
  const { one, clock } = circuits();
  clock.now += fail(one, 10)?.pause ?? 0;
  one.admit('k');
  one.admit('k');
  assert.equal(one.admit('k').admitted, false);
  clock.now += 10_001;
  assert.ok(one.admit('k').trial);
});

test('releases the slot of a trial that was not made', () => {
  const { one, clock } = circuits({ trials: 1 });
  clock.now += fail(one, 10)?.pause ?? 0;
  assert.ok(one.admit('k').trial);
  one.release('k');
  assert.ok(one.admit('k').trial);
});

test('accepts a growing share, and opens again when that fails', () => {
  let chance = 0.5;
  const { one, clock } = circuits({ trials: 1, ramp: 10_000, random: () => chance });
  clock.now += fail(one, 10)?.pause ?? 0;
  one.admit('k');
  assert.equal(one.report('k', 'success', true)?.state, 'ramp');
  clock.now += 3_000;
  chance = 0.29;
  assert.ok(one.admit('k').admitted);
  chance = 0.31;
  assert.equal(one.admit('k').admitted, false);
  clock.now += 7_000;
  assert.deepEqual(one.admit('k').change, { state: 'closed', reason: 'ramp-over', pause: 0 });
  const again = circuits({ trials: 1, ramp: 10_000 });
  again.clock.now += fail(again.one, 10)?.pause ?? 0;
  again.one.admit('k');
  again.one.report('k', 'success', true);
  assert.equal(fail(again.one, 10)?.reason, 'error-ratio');
});

test('recovers where open circuits have taken all the slots that trials need', () => {
  const { clock, one } = circuits({ minCalls: 1, pause: 1_000, pauseMax: 1_000 });
  const keys: string[] = [];
  for (let wave = 0; wave < 20; wave++) {
    for (let round = 0; round < 500; round++) {
      const key = `key ${wave} ${round}`;
      keys.push(key);
      one.report(key, 'failure', false);
    }
    clock.now += 30_000;
  }
  for (const key of keys) assert.ok(one.admit(key).admitted, key);
});
