import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import visits from './index.ts';

/** Nothing listens there. */
const nowhere = { host: '127.0.0.1', port: 1 };
test('refuses a configuration without a server', async () => {
  assert.deepEqual(await testPlugin(visits).check({}), {
    ok: false,
    message: "schema violation (at least one of these fields must be non-empty: 'config.redis.host')",
  });
});

test('refuses a template that does not compile', async () => {
  const checked = await testPlugin(visits).check({ redis: nowhere, key: '$(nobody.knows)' });
  assert.equal(checked.ok, false);
});

test('accepts requests while Redis is unavailable, and reports it once', async () => {
  const plugin = testPlugin(visits, { config: { redis: nowhere } });
  for (let request = 0; request < 3; request++) {
    const { response } = await plugin.request();
    assert.deepEqual([response.status, response.header('x-visits')], [200, null]);
  }
  assert.equal(plugin.counts.get('visits.redis_failures'), 3);
  assert.deepEqual(
    plugin.logLines.map(({ level, message }) => [level, message]),
    [['error', 'Redis is unavailable, so visits are not counted']],
  );
  await plugin.dispose();
});
