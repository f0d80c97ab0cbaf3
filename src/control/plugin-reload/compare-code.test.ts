import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketOf } from '../../shared/usage/latency-sketch.ts';
import { CodeCount, codeCountsRow, createCodeCounts } from '../../shared/zones/code-counts.ts';
import { failsMore } from '../../shared/zones/code-failures.ts';
import { isSlower } from './compare-code.ts';

interface Counts {
  readonly requests: number;
  readonly failures?: number;
  readonly serverErrors?: number;
  /** Milliseconds, and how many requests took so long. */
  readonly times?: readonly (readonly [time: number, count: number])[];
}

function row({ requests, failures = 0, serverErrors = 0, times = [] }: Counts): Uint32Array {
  const counts = codeCountsRow(createCodeCounts(1, 1), 0, 1, 0);
  counts[CodeCount.requests] = requests;
  counts[CodeCount.failures] = failures;
  counts[CodeCount.serverErrors] = serverErrors;
  for (const [time, count] of times) {
    counts[CodeCount.timed]! += count;
    counts[CodeCount.buckets + bucketOf(time)]! += count;
  }
  return counts;
}

const healthy = row({ requests: 1000 });

test('three failures are too many where there were none, and not where they are usual', () => {
  assert.equal(failsMore(row({ requests: 50, failures: 2 }), healthy), null);
  assert.match(failsMore(row({ requests: 50, failures: 3 }), healthy) ?? '', /failed 3 times in 50 requests/);
  assert.match(failsMore(row({ requests: 1, failures: 3 }), row({ requests: 0 })) ?? '', /in 3 requests/);
  const failing = row({ requests: 1000, failures: 50 });
  assert.equal(failsMore(row({ requests: 400, failures: 25 }), failing), null);
  assert.ok(failsMore(row({ requests: 400, failures: 60 }), failing));
});

test('5xx answers are compared with those of the old code: a backend that fails is not the plugin', () => {
  assert.equal(failsMore(row({ requests: 100, serverErrors: 4 }), healthy), null);
  assert.match(failsMore(row({ requests: 100, serverErrors: 5 }), healthy) ?? '', /5xx/);
  assert.equal(failsMore(row({ requests: 100, serverErrors: 90 }), row({ requests: 900, serverErrors: 800 })), null);
});

test('slower code is noticed by the part of its requests that are slow', () => {
  const old = row({
    requests: 1000,
    times: [
      [1, 995],
      [30, 5],
    ],
  });
  const slower = (times: Counts['times'], isEnd = false) =>
    isSlower(row({ requests: 0, times: times ?? [] }), old, isEnd);
  assert.match(slower([[51, 30]]) ?? '', /p99 (?:4|5)\d\.\d ms in 30 requests/);
  assert.equal(slower([[51, 9]]), null, 'too few requests');
  assert.equal(slower([[4, 500]]), null, 'a little slower than before');
  assert.equal(
    slower([
      [1, 990],
      [51, 10],
    ]),
    null,
    'as rare as before',
  );
  assert.equal(
    slower([
      [1, 900],
      [51, 100],
    ]),
    null,
    'not yet',
  );
  assert.ok(
    slower(
      [
        [1, 900],
        [51, 100],
      ],
      true,
    ),
    'at the end of the observation',
  );
});
