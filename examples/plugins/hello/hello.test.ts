import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import hello from './index.ts';

test('greets the caller and sends the name to the backend', async () => {
  const { upstream, response, record } = await testPlugin(hello).request({ path: '/?name=Ada' });
  assert.equal(upstream?.header('x-greeted'), 'Ada');
  assert.equal(response.header('x-hello'), 'Hello, Ada!');
  assert.equal(record['greeted'], 'Ada');
});

test('refuses a banned caller', async () => {
  const { upstream, response } = await testPlugin(hello, { config: { banned: ['Bob'] } }).request({
    path: '/?name=Bob',
  });
  assert.equal(upstream, null);
  assert.deepEqual([response.status, response.header('x-hello')], [403, null]);
  assert.match(response.body, /No greetings for Bob/);
});

test('refuses a name that would break out of its header', async () => {
  const { response, upstream } = await testPlugin(hello).request({ path: '/?name=a%0d%0aX-Admin:%20yes' });
  assert.equal(upstream, null);
  assert.equal(response.status, 500);
});

test('refuses an invalid status', async () => {
  assert.deepEqual(await testPlugin(hello).check({ status: 200 }), {
    ok: false,
    message: 'schema violation (config.status: value should be between 400 and 499)',
  });
});
