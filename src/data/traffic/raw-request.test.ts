import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClient } from '../../plugin-testing/test-client.ts';
import { testExchange } from '../../plugin-testing/test-exchange.ts';
import type { RawRequest } from '../../shared/traffic/raw-request.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import { headOf, rawRequest } from './raw-request.ts';

test('a raw request has the whole head, without the lines of the backend a second time', () => {
  const headers = {
    Host: 'a.test',
    Connection: 'close, x-hop',
    'X-Hop': '1',
    'X-Same': ['1', '1', '2'],
    Via: '1.1 before',
    TE: 'trailers',
    'X-Last': 'ümlaut',
  };
  const x = testExchange({ path: '/a?b=c', headers }, buildPlan([]), new TestClient());
  const text = rawRequest(x);
  assert.doesNotMatch(text, /forwardBlock/);
  assert.deepEqual(headOf(JSON.parse(text) as RawRequest), x.head);
  assert.ok(x.head.forwardBlock.includes('X-Same: 1\r\nX-Same: 1\r\nX-Same: 2'));
  assert.ok(!x.head.forwardBlock.includes('X-Hop'));
});

test('a request that is too long has no raw form', () => {
  const x = testExchange({ headers: { 'X-Long': 'x'.repeat(200_000) } }, buildPlan([]), new TestClient());
  assert.equal(rawRequest(x), '');
});
