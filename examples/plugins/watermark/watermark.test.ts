import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyHmac } from 'sluicegate/plugin-kit/auth';
import { testPlugin } from 'sluicegate/plugin-testing';
import watermark from './index.ts';

const secret = 'a secret of thirty-two characters';
const plugin = testPlugin(watermark, { config: { secret } });
const html = { 'Content-Type': 'text/html; charset=utf-8', ETag: '"1"', 'Cache-Control': 'public' };

test('a page ends with its mark, which only the gateway can make', async () => {
  const backend = { headers: html, body: ['<html>', '</html>'] };
  const { response, requestId } = await plugin.request({ backend });
  const mark = response.header('x-watermark') ?? '';
  assert.equal(response.body, `<html></html>\n<!-- ${mark} -->\n`);
  const [id, client, signature = null] = mark.split('.');
  assert.deepEqual([id, client], [requestId, 'anonymous']);
  const check = { algorithm: 'sha256', encoding: 'hex', secrets: [secret], signature } as const;
  assert.equal(verifyHmac({ ...check, payload: `${id}.${client}` }), true);
  assert.equal(verifyHmac({ ...check, payload: `${id}.other` }), false);
});

test('no cache keeps a marked response, or compares it by its old validator', async () => {
  const { response } = await plugin.request({ backend: { headers: html, body: 'x' } });
  assert.deepEqual([response.header('cache-control'), response.header('etag')], ['private, no-store', null]);
});

test('other bodies keep every byte', async () => {
  for (const headers of [{ 'Content-Type': 'application/json' }, { ...html, 'Content-Encoding': 'gzip' }]) {
    const { response } = await plugin.request({ backend: { headers, body: '{}' } });
    assert.equal(response.body, '{}');
    assert.notEqual(response.header('x-watermark'), null);
  }
});

test('the backend is asked for whole pages that are not compressed', async () => {
  const { upstream } = await plugin.request({ headers: { Range: 'bytes=0-1', 'Accept-Encoding': 'br' } });
  assert.deepEqual([upstream?.header('range'), upstream?.header('accept-encoding')], [null, 'identity']);
});
