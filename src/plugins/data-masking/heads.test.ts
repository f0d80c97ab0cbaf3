import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Rules, send } from './testing/send.ts';

test('headers and arguments, by name and by kind', async () => {
  const rules = [
    { headers: ['X-Name', 'Set-Cookie'], query_arguments: ['name'] },
    { kinds: ['email'], in: ['headers', 'query'] },
  ];
  const { upstream, response } = await send(rules, {
    path: '/?name=ada&x=1&n%61me=%C3%A9&mail=ada%40example.com&plain=a%20b',
    headers: {
      'X-Name': ['ada', 'b'],
      From: 'ada@example.com',
      'X-Latin': 'J\xc3\xbcrgen <j\xc3\xbcrgen@example.com>',
    },
    backend: {
      headers: {
        'X-Name': 'é',
        'Set-Cookie': ['a=1', 'b=2'],
        Link: '<mailto:ada@example.com>',
        'Content-Type': 'image/png',
      },
      body: 'x',
    },
  });
  assert.equal(upstream?.query, 'name=***&x=1&n%61me=***&mail=***&plain=a%20b');
  assert.deepEqual(upstream?.headers['x-name'], ['***', '***']);
  assert.equal(upstream?.header('from'), '***');
  assert.equal(upstream?.header('x-latin'), 'J\xc3\xbcrgen <***>');
  assert.equal(response.header('x-name'), '***');
  assert.deepEqual(response.headers['set-cookie'], ['***', '***']);
  assert.equal(response.header('link'), '<mailto:***>');
  assert.equal(response.body, 'x');
});

test('logs are masked by all rules, also of refused requests', async () => {
  const rules: Rules = [
    { headers: ['X-Name'], query_arguments: ['name'], direction: 'log' },
    { kinds: ['email'], except_groups: ['staff'] },
  ];
  for (const routed of [true, false]) {
    const { record: logged } = await send(rules, {
      routed,
      path: '/?name=ada&mail=bob%40example.com',
      headers: { 'X-Name': 'ada', 'X-Mail': 'bob@example.com', Referer: 'http://x.test/?name=ada' },
      backend: { headers: { 'X-Name': 'ada', 'X-Other': 'to bob@example.com' } },
    });
    const text = JSON.stringify(logged);
    assert.doesNotMatch(text, /\bada\b|bob/);
    assert.match(text, /name=\*\*\*&mail=\*\*\*/);
    assert.match(text, /"x-name":"\*\*\*"/);
  }
});
