import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorTree } from './validate.ts';
import { violationMessage } from './violation-message.ts';

const cases: readonly [fields: ErrorTree, message: string][] = [
  [{ host: 'required field missing' }, 'schema violation (host: required field missing)'],
  [{ b: 'wrong', a: 'bad' }, '2 schema violations (a: bad; b: wrong)'],
  [{ a: 'bad', '@entity': ['first', 'second'] }, '3 schema violations (first; second; a: bad)'],
  [{ config: { minute: 'expected a number' } }, 'schema violation (config.minute: expected a number)'],
  [{ paths: [null, 'bad', 'worse'] }, '2 schema violations (paths.2: bad; paths.3: worse)'],
  [{ config: { redis: { host: 'bad' } } }, 'schema violation (config.redis: {\n  host = "bad"\n})'],
  [{ sources: [{ ip: 'bad' }] }, 'schema violation (sources.1: {\n  ip = "bad"\n})'],
  [{ service: { id: 'missing primary key' } }, 'schema violation (service.id: missing primary key)'],
];

for (const [fields, message] of cases) {
  test(`the message for ${JSON.stringify(fields)} is Kong's`, () => {
    assert.equal(violationMessage(fields), message);
  });
}
