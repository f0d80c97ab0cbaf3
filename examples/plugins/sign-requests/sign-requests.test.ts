import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import signRequests from './index.ts';

const secret = 'a secret of thirty-two characters';
const plugin = testPlugin(signRequests, { config: { key_id: 'k1', secret, max_body: 100 } });

test('the backend can compute the signature from what it receives', async () => {
  for (const [method, body] of [
    ['POST', 'text'],
    ['GET', ''],
  ] as const) {
    const headers = { 'X-Signature': 'forged', 'X-Signature-Key': 'k2', 'X-Signature-Timestamp': '1' };
    const { upstream } = await plugin.request({ method, path: '/a%20b?x=1', headers, body });
    const timestamp = upstream?.header('x-signature-timestamp') ?? '';
    assert.ok(Math.abs(Date.now() / 1000 - Number(timestamp)) < 60);
    const digest = createHash('sha256').update(body).digest('hex');
    const signed = ['k1', timestamp, method, '/a%20b', 'x=1', digest].join('\n');
    const expected = createHmac('sha256', secret).update(signed).digest('hex');
    assert.deepEqual(upstream?.headers['x-signature'], [expected]);
    assert.deepEqual(upstream?.headers['x-signature-key'], ['k1']);
  }
});

test('a body that is too large to be signed does not reach the backend', async () => {
  const { response, upstream } = await plugin.request({ method: 'POST', body: 'x'.repeat(101) });
  assert.deepEqual([response.status, upstream], [413, null]);
});

test('a short secret is refused', async () => {
  assert.equal((await plugin.check({ key_id: 'k1', secret: 'short' })).ok, false);
});
