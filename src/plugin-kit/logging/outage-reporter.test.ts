import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { outageReporter } from './outage-reporter.ts';

test('every failure is counted, and the outage has one line at its begin and one at its end', async () => {
  const lines: (readonly [string, unknown])[] = [];
  let failures = 0;
  const write = (message: string, fields?: unknown) => void lines.push([message, fields]);
  const log = { debug: write, info: write, warn: write, error: write };
  const options = { untilSuccess: true, quietTime: 10 };
  const failed = outageReporter({ log, count: () => void failures++ }, 'failures', 'it failed', options);
  for (let at = 0; at < 500; at++) failed(new Error('refused'));
  assert.equal(failures, 500);
  assert.deepEqual(lines, [['it failed', { reason: 'refused' }]]);
  failed.succeeded();
  await until(() => lines.length > 1);
  assert.deepEqual(lines[1], ['outage over: it failed', { failures: 500, seconds: 0 }]);
});
