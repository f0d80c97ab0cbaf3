import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import plugin from './index.ts';

test('the backend gets the name of the client', async () => {
  const { upstream, response } = await testPlugin(plugin).request({ path: '/', headers: { 'X-Client': 'shop' } });
  assert.equal(upstream?.header('x-checked-client'), 'shop');
  assert.equal(response.header('x-checked-by'), 'my-policy');
});

test('a refused client does not reach the backend', async () => {
  const { upstream, response } = await testPlugin(plugin, { config: { refused: ['shop'] } }).request({
    path: '/',
    headers: { 'X-Client': 'shop' },
  });
  assert.equal(upstream, null);
  assert.equal(response.status, 403);
});

test('a header name with a space is not accepted', async () => {
  const { ok } = await testPlugin(plugin).check({ header: 'X Client' });
  assert.equal(ok, false);
});
