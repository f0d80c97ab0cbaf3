import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeHead, encodeIndex, encodeResponse } from './entry-format.ts';

const response = {
  status: 200,
  storedAt: Date.UTC(2026, 10, 21, 12, 0, 0),
  partition: 'GET r s',
  headers: 'A: 1\r\n',
  isPublic: true,
  alwaysValidate: false,
  neverStale: true,
  freshnessLifetime: 60.5,
  initialAge: 1.25,
  staleWhileRevalidate: 3,
  staleIfError: 4,
};

it('decodes what it has encoded, and nothing else', () => {
  assert.deepEqual(decodeHead(encodeResponse(response)), { kind: 'response', ...response });
  const index = { generation: 'abc', hasPublic: true, varyNames: ['a', 'b'] };
  assert.deepEqual(decodeHead(encodeIndex(index)), { kind: 'index', ...index });
  assert.deepEqual(decodeHead(encodeIndex({ ...index, varyNames: [] })), { kind: 'index', ...index, varyNames: [] });
  for (const text of ['', 'U1', 'A1', 'A1 200\n\n', 'A0 x']) assert.equal(decodeHead(text), null, text);
});
