import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import featureFlag from './index.ts';

const row = (name: string, fields: object) => ({
  id: name,
  created_at: 0,
  name,
  enabled: true,
  percent: 100,
  ...fields,
});
const feature_flags = [
  row('on', {}),
  row('off', { enabled: false }),
  row('none', { percent: 0 }),
  row('half', { percent: 50 }),
];
const entities = { feature_flags };

test('the backend receives the flags that are on, whatever the client sent', async () => {
  const config = { flags: ['on', 'off', 'none', 'missing'] };
  for (const slowEntities of [false, true]) {
    const plugin = testPlugin(featureFlag, { config, entities, slowEntities });
    const { upstream, record } = await plugin.request({ headers: { 'X-Feature-Flags': 'off' } });
    assert.deepEqual(upstream?.headers['x-feature-flags'], ['on']);
    assert.deepEqual(record['flags'], ['on']);
  }
});

test('a share of the clients has a flag, always the same ones', async () => {
  const plugin = testPlugin(featureFlag, { config: { flags: ['half'] }, entities });
  const seen = async () => {
    const flags: (string | null | undefined)[] = [];
    for (let at = 0; at < 200; at++) {
      flags.push((await plugin.request({ clientIp: `10.0.0.${at}` })).upstream?.header('x-feature-flags'));
    }
    return flags;
  };
  const first = await seen();
  assert.deepEqual(await seen(), first);
  const share = first.filter((flags) => flags === 'half').length;
  assert.ok(share > 60 && share < 140, String(share));
});

test('a route behind a flag does not exist without it', async () => {
  const ask = async (gate: string) =>
    (await testPlugin(featureFlag, { config: { gate }, entities }).request()).response.status;
  assert.deepEqual([await ask('on'), await ask('off'), await ask('missing')], [200, 404, 404]);
});
