import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../../src/plugin-sdk/testing.ts';
import hello from './index.ts';

test('a caller is greeted, and the backend is told', async () => {
  const { upstream, response, record } = await testPlugin(hello).request({ path: '/?name=Ada' });
  assert.equal(upstream?.header('x-greeted'), 'Ada');
  assert.equal(response.header('x-hello'), 'Hello, Ada!');
  assert.equal(record['greeted'], 'Ada');
});

test('a banned caller is refused', async () => {
  const { upstream, response } = await testPlugin(hello, { config: { banned: ['Bob'] } }).request({
    path: '/?name=Bob',
  });
  assert.equal(upstream, null);
  assert.deepEqual([response.status, response.header('x-hello')], [403, null]);
  assert.match(response.body, /No greetings for Bob/);
});

test('a name cannot break out of its header', async () => {
  const { response, upstream } = await testPlugin(hello).request({ path: '/?name=a%0d%0aX-Admin:%20yes' });
  assert.equal(upstream, null);
  assert.equal(response.status, 500);
});

test('a wrong status is refused', async () => {
  assert.deepEqual(await testPlugin(hello).check({ status: 200 }), {
    ok: false,
    message: 'schema violation (config.status: value should be between 400 and 499)',
  });
});
