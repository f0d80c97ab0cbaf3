import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demandAt, nodesFor, simulateDay } from './day.ts';

test('the day has from 1 to 1,000 cores of traffic', () => {
  const demands = Array.from({ length: 1440 }, (_, minute) => demandAt(minute));
  assert.equal(Math.round(Math.min(...demands)), 1);
  assert.equal(Math.max(...demands), 1000);
});

test('the scaler follows the traffic up and down', () => {
  const day = simulateDay();
  const at = (hour: number) => day[hour * 60]!;
  assert.equal(at(5).nodes, 2);
  assert.ok(Math.abs(at(16).nodes - nodesFor(1000)) <= 10, String(at(16).nodes));
  assert.ok(at(23).nodes < at(16).nodes / 4);
  const overloaded = day.filter(({ busy }) => busy > 0.9);
  assert.ok(
    overloaded.every(({ minute }) => minute >= 720 && minute < 725),
    'only when the traffic jumps',
  );
});
