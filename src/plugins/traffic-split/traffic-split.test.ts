import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import trafficSplit from './index.ts';
import { pointOf, stretchAt, stretches } from './shares.ts';

test('assigns clients by weight, evenly and deterministically', () => {
  const ends = stretches([5, 0, 95]);
  const counts = [0, 0, 0];
  for (let client = 0; client < 20_000; client++) counts[stretchAt(ends, pointOf(`client ${client}`))]!++;
  assert.equal(counts[1], 0);
  assert.ok(Math.abs(counts[0]! / 20_000 - 0.05) < 0.006, String(counts));
  assert.equal(pointOf('a'), pointOf('a'));
  assert.notEqual(pointOf('a'), pointOf('b'));
});

test('keeps all clients of the first share when it grows', () => {
  const small = stretches([5, 95]);
  const large = stretches([20, 80]);
  for (let client = 0; client < 5_000; client++) {
    const point = pointOf(`client ${client}`);
    if (stretchAt(small, point) === 0) assert.equal(stretchAt(large, point), 0);
  }
});

test('selects no share when all weights are 0', () => {
  assert.equal(stretchAt(stretches([0, 0]), 0.5), -1);
  assert.equal(stretchAt(stretches([0, 1]), 0), 1);
});

test('sets a cookie once, and accepts no other cookie for it', async () => {
  const config = { backends: [{ name: 'own' }], sticky_by: 'cookie' };
  const plugin = testPlugin(trafficSplit, { config });
  const first = await plugin.request();
  const [cookie] = first.response.headers['set-cookie'] ?? [];
  assert.match(cookie ?? '', /^traffic_split=[0-9a-f]{16}; Path=\/; SameSite=Lax; HttpOnly$/);
  const again = await plugin.request({ headers: { cookie: (cookie ?? '').split(';')[0] ?? '' } });
  assert.equal(again.response.headers['set-cookie'], undefined);
  const forged = await plugin.request({ headers: { cookie: 'traffic_split=nonsense' } });
  assert.notEqual(forged.response.headers['set-cookie'], undefined);
});

test('uses the own service when another is missing, and logs it once', async () => {
  const plugin = testPlugin(trafficSplit, {
    config: { backends: [{ name: 'x', service: 'gone' }], show_header: true },
  });
  const { response } = await plugin.request();
  await plugin.request();
  assert.deepEqual(response.headers['x-traffic-split'], ['none']);
  assert.equal(plugin.logLines.length, 1);
  assert.equal(plugin.counts.get('traffic-split.missing'), 2);
});

test('refuses an invalid configuration', async () => {
  const plugin = testPlugin(trafficSplit, { config: { backends: [{ name: 'a' }] } });
  for (const bad of [
    {},
    { backends: [] },
    { backends: [{ weight: 1 }] },
    { backends: [{ name: 'a', weight: -1 }] },
    { backends: [{ name: 'a' }], sticky_by: 'header' },
  ]) {
    assert.equal((await plugin.check(bad)).ok, false, JSON.stringify(bad));
  }
});
