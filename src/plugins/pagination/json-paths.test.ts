import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import plugin from './index.ts';

type Config = Readonly<Record<string, unknown>>;

async function answer(backend: Config, client: Config, body: unknown): Promise<unknown> {
  const config = { clients: ['page'], links: false, backend: { style: 'offset', ...backend }, client };
  const { response } = await testPlugin(plugin, { config }).request({
    path: '/?page=1&limit=2',
    backend: { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) },
  });
  return JSON.parse(response.body);
}

async function problem(backend: Config): Promise<string> {
  const checked = await testPlugin(plugin).check({ backend: { style: 'offset', ...backend } });
  return checked.ok ? '' : checked.message;
}

test('accepts RFC 9535 paths, and the same paths in the old spelling', async () => {
  const body = { result: { users: [{ id: 1 }, { id: 2 }], 'total-count': 9 }, pages: [{ total: 5 }] };
  const client = { items: '$.list.items', total: "$['all']", next_cursor: null };
  const expected = { result: {}, pages: [{ total: 5 }], list: { items: [{ id: 1 }, { id: 2 }] }, all: 9 };
  const spellings = [
    { items: '$.result.users', total: "$.result['total-count']" },
    { items: "$['result']['users']", total: '$.result["total-count"]' },
    { items: 'result.users', total: 'result.total-count' },
  ];
  for (const backend of spellings) assert.deepEqual(await answer(backend, client, body), expected, backend.items);
  const last = (await answer({ items: '$.result.users', total: '$.pages[-1].total' }, client, body)) as Config;
  assert.equal(last['all'], 5);
});

test('refuses an invalid path, and one with several results', async () => {
  for (const items of ['$..users', '$.users[*]', 'users[*]', '$.users[0:1]', "$['a','b']", '$.a[?@.b]']) {
    assert.match(await problem({ items }), /must name one place/, items);
  }
  assert.match(await problem({ key: '$.a..' }), /is not a JSONPath/);
  assert.match(await problem({ key: 'a..b' }), /is not a path: character 2 is not expected/);
  for (const items of ['$', '$.a', 'a', 'a.b[0]', '$.a[-1]']) assert.equal(await problem({ items }), '', items);
});
