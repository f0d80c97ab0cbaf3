import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-sdk/testing.ts';
import timeouts from './index.ts';

test('takes some of the times, and wants one at least', async () => {
  const plugin = testPlugin(timeouts, { config: { total: 100 } });
  assert.equal((await plugin.check({ connect: 10, idle: 20 })).ok, true);
  const empty = await plugin.check({});
  assert.ok(!empty.ok);
  assert.match(empty.message, /at least one of these fields must be non-empty/);
  for (const value of [0, -1, 1.5, 86_400_001]) assert.equal((await plugin.check({ total: value })).ok, false);
});

test('lets requests pass as they are', async () => {
  const outcome = await testPlugin(timeouts, { config: { total: 100 } }).request();
  assert.equal(outcome.response.status, 200);
});
