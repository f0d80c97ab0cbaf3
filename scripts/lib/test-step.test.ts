import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { skippedInCi, testSummary } from './test-step.ts';

const output =
  '✔ works (1.2ms)\n﹣ talks to PostgreSQL (0.1ms) # needs PostgreSQL\nℹ tests 2\nℹ pass 1\nℹ fail 0\nℹ skipped 1\n';
const before = process.env['CI'];
afterEach(() => {
  if (before === undefined) delete process.env['CI'];
  else process.env['CI'] = before;
});

test('the summary counts tests, and names the skipped ones with their reasons', () => {
  assert.equal(testSummary(output), '1 passed, 1 skipped\n      skipped: talks to PostgreSQL # needs PostgreSQL');
});

test('a skip is a failure only in CI', () => {
  delete process.env['CI'];
  assert.equal(skippedInCi(output), null);
  process.env['CI'] = 'true';
  assert.equal(skippedInCi(output), '1 tests were skipped');
  assert.equal(skippedInCi(output.replace('skipped 1', 'skipped 0')), null);
});
