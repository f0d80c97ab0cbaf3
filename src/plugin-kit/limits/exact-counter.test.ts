import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, replyJson } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import { exactCounter } from './index.ts';

for (const over of ['workers', 'nodes'] as const) {
  test(`counts over ${over}, by key and period`, async () => {
    let now = Date.UTC(2026, 0, 1);
    const counting = definePlugin({
      name: 'counting',
      version: '1.0.0',
      priority: 1,
      protocols: httpProtocols,
      schema: { config: record({}) },
      zones: () => [{ name: 'counts', bytes: 65_536 }],
      setup(_, tools) {
        const counts = exactCounter(tools, { zone: 'counts', period: 'day', over, now: () => now });
        return {
          access: async ({ request }) => {
            const key = request.queryArgument('key') ?? '';
            const by = Number(request.queryArgument('by'));
            return replyJson(200, [await counts.add(key, by), await counts.read(key), await counts.read('other')]);
          },
        };
      },
    });
    const plugin = testPlugin(counting);
    const add = async (key: string, by: number) =>
      JSON.parse((await plugin.request({ path: `/?key=${key}&by=${by}` })).response.body) as unknown;
    assert.deepEqual(await add('a', 1), [1, 1, 0]);
    assert.deepEqual(await add('a', 5), [6, 6, 0]);
    assert.deepEqual(await add('b', 1), [1, 1, 0]);
    now += 86_400_000;
    assert.deepEqual(await add('a', 2), [2, 2, 0]);
  });
}
