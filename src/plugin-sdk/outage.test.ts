import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outageReporter } from './outage.ts';

function rig() {
  let time = 5_000;
  let failures = 0;
  const lines: unknown[] = [];
  const write = (_: string, fields?: unknown) => void lines.push(fields);
  const log = { debug: write, info: write, warn: write, error: write };
  const count = () => void failures++;
  const report = outageReporter({ log, count }, 'failures', 'it failed', () => time);
  return {
    lines,
    failures: () => failures,
    /** One failure each 100 ms. */
    failFor(seconds: number, reason = 'refused') {
      for (let at = 0; at < seconds * 10; at++) {
        report(new Error(reason));
        time += 100;
      }
    },
    pass: (seconds: number) => {
      time += seconds * 1000;
    },
  };
}

test('an outage that goes on is told ever more seldom, and every failure counts', () => {
  const { lines, failures, failFor } = rig();
  failFor(0.1);
  assert.deepEqual(lines.splice(0), [{ reason: 'refused' }]);
  failFor(599.9);
  // After 1, 3, 7, 15, 31, 63 seconds, then each minute.
  assert.equal(lines.length, 14);
  assert.deepEqual(lines[0], { reason: 'refused', unsaid: 9 });
  assert.deepEqual(lines[1], { reason: 'refused', unsaid: 19 });
  assert.equal(failures(), 6000);
});

test('another reason is told at once, and reasons in turns once a second', () => {
  const { lines, failFor } = rig();
  failFor(10);
  lines.length = 0;
  failFor(0.1, 'timed out');
  assert.deepEqual(lines.splice(0), [{ reason: 'timed out', unsaid: 29 }]);
  for (let at = 0; at < 50; at++) {
    failFor(0.1, 'refused');
    failFor(0.1, 'timed out');
  }
  assert.ok(lines.length >= 5 && lines.length <= 10, String(lines.length));
});

test('after a quiet time it is another outage', () => {
  const { lines, failFor, pass } = rig();
  failFor(100);
  pass(300);
  lines.length = 0;
  failFor(2);
  assert.equal(lines.length, 2);
});
