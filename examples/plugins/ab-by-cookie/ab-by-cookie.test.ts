import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import abByCookie from './index.ts';

const config = { variants: [{ name: 'a', weight: 3 }, { name: 'b' }] };
const plugin = testPlugin(abByCookie, { config });

test('new clients are shared out by weight, and get a cookie', async () => {
  for (const [draw, variant] of [
    [0, 'a'],
    [0.74, 'a'],
    [0.75, 'b'],
    [0.999, 'b'],
  ] as const) {
    const { upstream, response } = await plugin.request({ draw, scheme: 'https' });
    assert.equal(upstream?.header('x-variant'), variant);
    const expected = `variant=${variant}; Path=/; Max-Age=2592000; SameSite=Lax; Secure; HttpOnly`;
    assert.equal(response.header('set-cookie'), expected);
    assert.deepEqual([response.header('vary'), response.header('cache-control')], ['Cookie', 'private, no-store']);
  }
});

test('a client keeps its variant, whatever it draws', async () => {
  const { upstream, response } = await plugin.request({ draw: 0, headers: { Cookie: 'x=1; variant=b' } });
  assert.equal(upstream?.header('x-variant'), 'b');
  assert.deepEqual([response.header('set-cookie'), response.header('vary')], [null, 'Cookie']);
});

test('a cookie that names no variant is replaced, and a header of the client too', async () => {
  for (const value of ['c', '__proto__', 'constructor', '']) {
    const headers = { Cookie: `variant=${value}`, 'X-Variant': 'b' };
    const { upstream, response } = await plugin.request({ draw: 0, headers });
    assert.deepEqual(upstream?.headers['x-variant'], ['a'], value);
    assert.match(response.header('set-cookie') ?? '', /^variant=a;/);
  }
});

test('a service that does not exist is counted, and the route keeps its own', async () => {
  const missing = testPlugin(abByCookie, { config: { variants: [{ name: 'a', service: 'gone' }] } });
  assert.equal((await missing.request()).upstream?.header('x-variant'), 'a');
  assert.equal(missing.counts.get('ab-by-cookie.missing_service'), 1);
});

test('a name that would not fit into a cookie is refused', async () => {
  assert.equal((await plugin.check({ variants: [{ name: 'a; Domain=x' }] })).ok, false);
  assert.equal((await plugin.check({ variants: [] })).ok, false);
});
