import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testPlugin } from '../../../plugin-testing/index.ts';
import aggregate from '../index.ts';
import { backendResponse, run } from '../run/run.fixture.ts';

describe('aggregate: values from clients and other parts in calls', () => {
  const paths = { requests: [{ name: 'a', url: 'http://a.test/base', path: '/x/{query.v}/y' }] };
  const encoded: readonly [string, string][] = [
    ['a%3Fadmin=1', '/x/a%3Fadmin%3D1/y'],
    ['a%23b', '/x/a%23b/y'],
    ['a;b=c', '/x/a%3Bb%3Dc/y'],
    ['%252e%252e', '/x/%252e%252e/y'],
    ['http://evil.test', '/x/http%3A%2F%2Fevil.test/y'],
    ['@evil.test', '/x/%40evil.test/y'],
    ['caf%C3%A9', '/x/caf%C3%A9/y'],
    ['{query.z}', '/x/%7Bquery.z%7D/y'],
  ];
  for (const [sent, path] of encoded) {
    test(`the value ${sent} stays within its segment`, async () => {
      const { calls } = await run(paths, { [path]: 1 }, { path: `/?v=${sent}` });
      assert.deepEqual([calls[0]?.path, calls[0]?.to], [path, { url: 'http://a.test/base' }]);
      assert.equal(calls[0]?.query, '');
    });
  }

  test('a client cannot claim an identity header', async () => {
    const config = {
      requests: [
        { name: 'a', url: 'http://a.test', path: '/a', query: { u: '{headers.x-consumer-id}', l: '{headers.x-lang}' } },
      ],
    };
    const { calls } = await run(config, { '/a': 1 }, { headers: { 'X-Consumer-ID': 'somebody-else', 'X-Lang': 'en' } });
    assert.equal(calls[0]?.query, 'l=en');
  });

  for (const sent of [
    '..',
    '.',
    '%2e%2e',
    '../admin',
    '..%2fadmin',
    '..%5Cadmin',
    'a/../b',
    '..;x',
    '',
    'a%0D%0AX:1',
    '%00',
  ]) {
    test(`the value ${sent} is refused without a call`, async () => {
      const { calls, response, json } = await run(paths, {}, { path: `/?v=${sent}` });
      assert.deepEqual([calls.length, response.status, json['part']], [0, 400, 'a']);
    });
  }

  test('a dot segment made of a value and the text next to it is refused', async () => {
    const { response } = await run({ requests: [{ name: 'a', path: '/x/.{query.v}' }] }, {}, { path: '/?v=.' });
    assert.equal(response.status, 400);
  });

  test('values of responses are not trusted either', async () => {
    const config = {
      requests: [
        { name: 'a', path: '/a' },
        { name: 'b', path: '/b/{a.body}' },
      ],
    };
    const { response, json } = await run(config, { '/a': () => backendResponse('"../admin"') });
    assert.deepEqual([response.status, json['part'], json['reason']], [502, 'b', 'unsafe-value']);
  });

  test('cannot end a header line', async () => {
    const config = { requests: [{ name: 'a', path: '/a', headers: { 'X-V': '{query.v}' } }] };
    const { calls } = await run(config, { '/a': 1 }, { path: '/?v=a%0D%0AEvil:%201' });
    assert.equal(new Map(calls[0]?.headers).get('X-V'), 'a Evil: 1');
  });

  test('cannot escape from forms and XML', async () => {
    const sent = async (body: string, type: string) => {
      const part = { name: 'a', path: '/a', method: 'POST', body, body_type: type };
      const { calls } = await run({ requests: [part] }, { '/a': 1 }, { path: '/?v=%3C/a%3E%26b%3D%22%201' });
      return Buffer.from(calls[0]?.body ?? []).toString();
    };
    assert.equal(await sent('x={query.v}&y=1', 'form'), 'x=%3C%2Fa%3E%26b%3D%22+1&y=1');
    assert.equal(await sent('<a b="{query.v}"/>', 'xml'), '<a b="&#60;/a&#62;&#38;b=&#34; 1"/>');
  });

  test('names the missing value', async () => {
    const { response, json } = await run({ requests: [{ name: 'a', path: '/a/{consumer.custom_id}' }] }, {});
    assert.equal(response.status, 400);
    assert.equal(json['message'], "The part 'a' of the answer failed: there is no value for {consumer.custom_id}");
  });

  test('any value is one segment or refused', async () => {
    const alphabet = [
      '.',
      '/',
      '\\',
      '%',
      '2',
      'e',
      'F',
      ';',
      '?',
      '#',
      '&',
      '\r',
      '\n',
      '\0',
      'é',
      '\ud800',
      '@',
      ':',
      ' ',
      '{',
      '}',
    ];
    let state = 4711;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const texts = Array.from({ length: 1_000 }, () =>
      Array.from({ length: next(5) }, () => alphabet[next(alphabet.length)]).join(''),
    );
    const calls: (string | undefined)[] = [];
    const plugin = testPlugin(aggregate, {
      config: { requests: [{ name: 'a', path: '/x/{body.v}/y' }] },
      calls: ({ path, query }) => {
        calls.push(path);
        assert.equal(query, '');
        return backendResponse(1);
      },
    });
    let passed = 0;
    for (const text of texts) {
      calls.length = 0;
      const body = JSON.stringify({ v: text });
      const { response } = await plugin.request({
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      if (response.status === 400) continue;
      passed++;
      const segments = (calls[0] ?? '').split('/');
      assert.deepEqual([segments.length, segments[1], segments[3]], [4, 'x', 'y'], body);
      assert.equal(decodeURIComponent(segments[2] ?? ''), text.toWellFormed(), body);
      assert.match(segments[2] ?? '', /^(?:[A-Za-z0-9_~.!*'()-]|%[0-9A-F]{2})+$/);
      assert.ok(!text.split(/[\\/]/).some((piece) => piece === '.' || piece === '..'), body);
    }
    assert.ok(passed > 300, String(passed));
  });
});
