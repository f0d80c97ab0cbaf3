import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import requestMirror from './index.ts';

const url = 'http://127.0.0.1:9';

test('accepts an address and limits, and refuses credentials in the address', async () => {
  const plugin = testPlugin(requestMirror, { config: { url } });
  for (const good of [{ url: 'https://mirror.test/base' }, { url, percent: 0.5, methods: ['GET'], with_body: true }]) {
    assert.equal((await plugin.check(good)).ok, true, JSON.stringify(good));
  }
  for (const bad of [
    {},
    { url: 'ftp://a' },
    { url: 'http://user:secret@a/' },
    { url: 'http://a/?q=1' },
    { url, percent: 101 },
    { url, max_in_flight: 0 },
  ]) {
    assert.equal((await plugin.check(bad)).ok, false, JSON.stringify(bad));
  }
});

test('does not copy tunnels, unlisted methods and disabled bodies', async () => {
  const plugin = testPlugin(requestMirror, { config: { url, methods: ['GET', 'POST'] } });
  await plugin.request({
    headers: {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  });
  await plugin.request({ method: 'PUT' });
  await plugin.request({ method: 'POST', body: 'abc' });
  assert.deepEqual([...plugin.counts], [['request-mirror.skipped', 1]]);
  await plugin.dispose();
});

test('copies no request at 0 percent', async () => {
  const plugin = testPlugin(requestMirror, { config: { url, percent: 0 } });
  for (let turn = 0; turn < 20; turn++) await plugin.request();
  assert.equal(plugin.counts.size, 0);
  await plugin.dispose();
});
