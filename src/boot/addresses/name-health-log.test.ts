import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { NameHealthLog } from './name-health-log.ts';

test('while the DNS servers are unavailable, the number of log lines is bounded, however many names are in use', async () => {
  const lines: string[] = [];
  const write = (message: string): void => void lines.push(message);
  const names = new NameHealthLog({ warn: write, error: write }, { quietTime: 20 });
  for (let at = 0; at < 1000; at++) names.changed(`host-${at}`, 'timed out', at % 2 === 0);
  assert.equal(lines.length, 11);
  assert.equal(lines[0], 'DNS resolution failed for host-0');
  assert.equal(lines[10], 'DNS resolution failed for further names');
  for (let at = 0; at < 1000; at++) names.changed(`host-${at}`, null, false);
  await until(() => lines.length >= 22);
  assert.equal(lines.filter((line) => line.startsWith('outage over: DNS resolution failed for ')).length, 11);
  for (let at = 1000; at < 1005; at++) names.changed(`host-${at}`, 'timed out', false);
  assert.equal(lines.length, 27, 'names whose outage is over can be replaced');
});

test('a name that is not in use any more is replaced', () => {
  const lines: string[] = [];
  const names = new NameHealthLog({ warn: () => {}, error: (message) => void lines.push(message) });
  for (let at = 0; at < 10; at++) names.changed(`host-${at}`, 'timed out', false);
  names.remove('host-3');
  names.changed('another', 'timed out', false);
  assert.equal(lines.at(-1), 'DNS resolution failed for another');
});
