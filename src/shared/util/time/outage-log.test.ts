import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../test/support/until.ts';
import { OutageLog } from './outage-log.ts';

test('an outage is logged when it starts, with a count while it lasts, and when it ends', async () => {
  const lines: unknown[] = [];
  const write = (message: string, fields?: unknown): void => void lines.push([message, fields]);
  const outage = new OutageLog({ warn: write, error: write }, 'Redis is unavailable', {
    quietTime: 100,
    reportInterval: 500,
  });
  for (let at = 0; at < 1000; at++) outage.failed(new Error('refused'), { host: 'a' });
  assert.deepEqual(lines, [['Redis is unavailable', { reason: 'refused', host: 'a' }]]);
  await until(() => {
    outage.failed(new Error('refused'));
    return lines.length > 1;
  });
  const [message, fields] = lines[1] as [string, { reason: string; failures: number }];
  assert.equal(message, 'outage continues: Redis is unavailable');
  assert.equal(fields.reason, 'refused');
  assert.ok(fields.failures > 1000);
  await until(() => lines.length > 2);
  assert.equal((lines[2] as [string])[0], 'outage over: Redis is unavailable');
  outage.failed(new Error('refused'));
  for (let at = 0; at < 100; at++) outage.failed(new Error(`reason ${at}`));
  assert.equal(lines.length, 3 + 5, 'a few reasons');
  assert.equal((lines[3] as [string])[0], 'Redis is unavailable', 'the next outage has a beginning of its own');
});

test('an outage that waits for a success does not end without attempts', async () => {
  const lines: unknown[] = [];
  const write = (message: string, fields?: unknown): void => void lines.push([message, fields]);
  const fields = { host: 'a' };
  const quiet = new OutageLog({ warn: write, error: write }, 'quiet', { quietTime: 20 });
  const outage = new OutageLog({ warn: write, error: write }, 'unavailable', {
    quietTime: 20,
    untilSuccess: true,
    fields,
  });
  outage.succeeded();
  quiet.failed(new Error('refused'));
  outage.failed(new Error('refused'));
  await until(() => !quiet.active);
  quiet.failed(new Error('refused'));
  await until(() => !quiet.active);
  outage.failed(new Error('refused'));
  outage.succeeded();
  outage.failed(new Error('refused'));
  quiet.failed(new Error('refused'));
  await until(() => !quiet.active);
  const own = () => lines.filter((line) => (line as [string])[0].endsWith('unavailable'));
  assert.deepEqual(own(), [['unavailable', { reason: 'refused', host: 'a' }]]);
  outage.succeeded();
  await until(() => !outage.active);
  assert.deepEqual(own().slice(1), [['outage over: unavailable', { failures: 3, seconds: 0, host: 'a' }]]);
});
