import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, refuse } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import postFunction from './index.ts';

const settings = { untrustedFunctions: 'sandbox' } as const;

/** A plugin of any user, with a low priority. */
const other = definePlugin({
  name: 'other',
  version: '1.0.0',
  priority: 1,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    access(context) {
      if (context.request.query === 'refuse') return refuse(401, 'no');
      context.upstream.addHeader('X-Order', 'other');
      return undefined;
    },
    headerFilter: ({ response }) => response.addHeader('X-Order', 'other'),
  }),
});

test('it runs after all others, in each phase', async () => {
  const config = {
    access: ["({ upstream }) => upstream.addHeader('X-Order', 'post')"],
    header_filter: ["({ response }) => response.addHeader('X-Order', 'post')"],
  };
  const plugin = testPlugin(postFunction, { settings, config, otherPlugins: [{ plugin: other }] });
  const { upstream, response } = await plugin.request();
  assert.deepEqual(upstream?.headers['x-order'], ['other', 'post']);
  assert.deepEqual(response.headers['x-order'], ['other', 'post']);
});

test('a reply of another plugin skips its access, and not its other phases', async () => {
  const config = {
    access: ["() => log.error('ran')"],
    header_filter: ["({ response }) => response.setHeader('X-Last', '1')"],
  };
  const plugin = testPlugin(postFunction, { settings, config, otherPlugins: [{ plugin: other }] });
  const { response } = await plugin.request({ path: '/?refuse' });
  assert.equal(response.status, 401);
  assert.deepEqual(response.headers['x-last'], ['1']);
  assert.deepEqual(plugin.logLines, []);
});

test('its errors have its name', async () => {
  const off = await testPlugin(postFunction).check({ log: ['() => {}'] });
  assert.match(off.ok ? '' : off.message, /post-function is off/);
  const broken = await testPlugin(postFunction, { settings }).check({ log: ['() => }'] });
  assert.match(broken.ok ? '' : broken.message, /error parsing post-function: line 1, column 7: Unexpected token/);
  const plugin = testPlugin(postFunction, { settings, config: { access: ['() => null.x'] } });
  await plugin.request();
  assert.match(String(plugin.logLines[0]?.fields['error']), /^Error: post-function access\[1\], line 1/);
});
