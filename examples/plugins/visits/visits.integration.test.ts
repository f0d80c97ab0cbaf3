import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import visits from './index.ts';

/** Port of the Redis server to test with. Default: Redis's own. */
const port = Number(process.env['REDIS_PORT'] ?? 6379);

test('counts the visits of each client', async () => {
  const config = { redis: { host: '127.0.0.1', port }, message: '$(client.ip): $(shared.visits)', trace_rate: 1 };
  const plugin = testPlugin(visits, { config });
  const clients = ['10.0.0.1', '10.0.0.1', '10.0.0.2'];
  const shown: (string | null)[] = [];
  for (const clientIp of clients) {
    const { response } = await plugin.request({ clientIp, traced: true });
    shown.push(response.header('x-visits'));
  }
  assert.deepEqual(shown, ['10.0.0.1: 1', '10.0.0.1: 2', '10.0.0.2: 1']);
  const [total, times] = await plugin.metrics();
  assert.deepEqual(total?.type === 'counter' && [...total.series], [{ labels: ['test-route'], value: 3 }]);
  const [waited] = times?.type === 'histogram' ? times.series : [];
  assert.equal(
    Array.from(waited?.counts ?? []).reduce((sum, count) => sum + count, 0),
    3,
  );
  await plugin.dispose();
});
