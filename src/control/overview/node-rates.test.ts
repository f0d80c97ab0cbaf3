import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeReport } from '../nodes/node-report.ts';
import { NodeRates } from './node-rates.ts';

function report(id: string, requests: number, reportedAt?: number): NodeReport {
  return { id, load: { requests }, ...(reportedAt === undefined ? {} : { reportedAt }) } as unknown as NodeReport;
}

test('the rate of a node is that between its last two reports', () => {
  const rates = new NodeRates();
  assert.deepEqual([...rates.update([report('a', 100, 1_000), report('b', 7)])], [['a', null]]);
  assert.deepEqual([...rates.update([report('a', 100, 1_000)])], [['a', null]]);
  assert.deepEqual([...rates.update([report('a', 600, 6_000)])], [['a', 100]]);
  // The same report is read twice.
  assert.deepEqual([...rates.update([report('a', 600, 6_000)])], [['a', 100]]);
  // It has begun again, or its clock was set back.
  assert.deepEqual([...rates.update([report('a', 3, 9_000)])], [['a', null]]);
  assert.deepEqual([...rates.update([report('a', 30, 8_000)])], [['a', null]]);
  assert.deepEqual([...rates.update([])], []);
});
