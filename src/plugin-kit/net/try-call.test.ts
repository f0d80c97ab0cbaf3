import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallFailed } from '../../plugin-sdk/index.ts';
import { tryCall } from './index.ts';

const bounds = { timeout: 1, maxBytes: 1 };

test('a call without an answer is a result, a bug is not', async () => {
  const failure = new CallFailed('timeout', 504, 'no answer');
  assert.equal(await tryCall({ call: () => Promise.reject(failure) }, bounds), failure);
  await assert.rejects(tryCall({ call: () => Promise.reject(new RangeError('bug')) }, bounds), RangeError);
});
