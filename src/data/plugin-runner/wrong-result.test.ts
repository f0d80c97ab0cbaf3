import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, type PluginPhases } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';

function plugin(phases: PluginPhases) {
  return definePlugin({
    name: 'wrong',
    version: '1.0.0',
    priority: 5,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => phases,
  });
}

const pairs = { status: 200, headers: {}, body: 'x', message: null };
const wrong: readonly (readonly [what: string, value: unknown])[] = [
  ['null', null],
  ['a text', 'x'],
  ['a number', 7],
  ['a boolean', false],
  ['an object', {}],
  ['an array', []],
  ['headers that are no list', pairs],
  ['a body that is no text', { ...pairs, headers: [], body: 7 }],
];
for (const phase of ['rewrite', 'access'] as const) {
  for (const [what, value] of wrong) {
    for (const [how, returned] of [
      ['at once', () => value],
      ['later', async () => value],
    ] as const) {
      test(`${what}, returned ${how} by ${phase}, is the 500 of the request and names the plugin`, async () => {
        const harness = testPlugin(plugin({ [phase]: returned } as PluginPhases));
        const { response } = await harness.request();
        assert.equal(response.status, 500);
        const [line] = harness.logLines;
        assert.deepEqual([line?.message, line?.fields['phase']], ['plugin failed', phase]);
        assert.match(String(line?.fields['error']), /the phase returned /);
      });
    }
  }
}
