import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { test } from 'node:test';
import { reasonPhrases } from './reason-phrases.ts';

test('reason phrases are those of Node', () => {
  assert.deepEqual({ ...reasonPhrases }, STATUS_CODES);
});
