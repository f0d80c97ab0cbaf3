import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signHmac } from 'sluicegate/plugin-kit/auth';
import { testPlugin } from 'sluicegate/plugin-testing';
import webhookVerifier from './index.ts';

const secrets = ['the secret from today on', 'the secret until today'];
const scheme = { algorithm: 'sha256', encoding: 'hex' } as const;

/** A webhook as its sender sends it. */
function webhook(body: string, { secret = secrets[0] ?? '', age = 0 } = {}) {
  const timestamp = String(Math.floor(Date.now() / 1000) - age);
  const signature = `sha256=${signHmac(scheme, secret, `${timestamp}.${body}`)}`;
  return { method: 'POST', body, headers: { 'X-Timestamp': timestamp, 'X-Signature': signature } };
}

test('a webhook that one of the secrets signed reaches the backend', async () => {
  const plugin = testPlugin(webhookVerifier, { config: { secrets } });
  for (const secret of secrets) {
    const { upstream } = await plugin.request(webhook(`by ${secret}`, { secret }));
    assert.deepEqual([upstream?.header('x-webhook-verified'), upstream?.body], ['true', `by ${secret}`]);
  }
});

test('a webhook reaches it once, however its signature is spelled', async () => {
  const plugin = testPlugin(webhookVerifier, { config: { secrets } });
  const first = webhook('{}');
  assert.equal((await plugin.request(first)).response.status, 200);
  assert.equal((await plugin.request(first)).response.status, 409);
  const upper = `sha256=${first.headers['X-Signature'].slice(7).toUpperCase()}`;
  assert.equal(
    (await plugin.request({ ...first, headers: { ...first.headers, 'X-Signature': upper } })).response.status,
    409,
  );
});

test('everything else is refused', async () => {
  const plugin = testPlugin(webhookVerifier, { config: { secrets } });
  const good = webhook('{}');
  const { 'X-Signature': signature, 'X-Timestamp': timestamp } = good.headers;
  const bad = [
    { method: 'POST', body: '{}' },
    { ...good, body: '{ }' },
    { ...good, headers: { 'X-Signature': signature } },
    { ...good, headers: { 'X-Timestamp': timestamp } },
    { ...good, headers: { 'X-Timestamp': timestamp, 'X-Signature': signature.slice(7) } },
    { ...good, headers: { 'X-Timestamp': timestamp, 'X-Signature': [signature, signature] } },
    { ...good, headers: { 'X-Timestamp': [timestamp, '1'], 'X-Signature': signature } },
    { ...good, headers: { 'X-Timestamp': String(Number(timestamp) - 1), 'X-Signature': signature } },
    webhook('{}', { secret: 'another secret' }),
    webhook('{}', { age: 301 }),
    webhook('{}', { age: -400 }),
  ];
  for (const request of bad) {
    const { response, upstream } = await plugin.request(request);
    assert.deepEqual([response.status, upstream], [401, null], JSON.stringify(request));
  }
});

test('a short secret, or none, is refused', async () => {
  const plugin = testPlugin(webhookVerifier);
  assert.equal((await plugin.check({ secrets: [] })).ok, false);
  assert.equal((await plugin.check({ secrets: ['short'] })).ok, false);
});
