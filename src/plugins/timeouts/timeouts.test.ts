import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import timeouts from './index.ts';

test('accepts some of the timeouts, and requires at least one', async () => {
  const plugin = testPlugin(timeouts, { config: { total: 100 } });
  assert.equal((await plugin.check({ connect: 10, idle: 20 })).ok, true);
  const empty = await plugin.check({});
  assert.ok(!empty.ok);
  assert.match(empty.message, /at least one of these fields must be non-empty/);
  for (const value of [0, -1, 1.5, 86_400_001]) assert.equal((await plugin.check({ total: value })).ok, false);
});

test('forwards requests unchanged', async () => {
  const outcome = await testPlugin(timeouts, { config: { total: 100 } }).request();
  assert.equal(outcome.response.status, 200);
});
